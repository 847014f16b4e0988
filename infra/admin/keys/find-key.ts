import { idOf, type KeyRecord } from '../../../shared/keys/key-record.ts';
import { isIssued, withoutTokens } from '../../../shared/keys/token.ts';
import { isoDay } from '../../../shared/keys/verdict.ts';
import { AdminError } from '../service/failures.ts';
import type { Target } from '../service/target.ts';
import { visible } from '../service/text.ts';
import { revokedError } from './change-key.ts';

/** Finds a key by id or name. @throws AdminError also if it was revoked @see findRecord */
export async function findKey(target: Target, text: string): Promise<KeyRecord> {
  const record = await findRecord(target, text);
  if (record.revoked) throw revokedError(record);
  return record;
}

/** Finds a key, also a revoked one, by its id, or by its name if unique. @throws AdminError if none or several */
export async function findRecord(target: Target, text: string): Promise<KeyRecord> {
  if (text.trim() === '') throw new UnknownKeyError('There is no key without an id or name.');
  // The message would show it.
  if (withoutTokens(text) !== text)
    throw new AdminError('That is a token. Look it up with: npm run admin -- keys find');
  const { keyTable, report } = target;
  const unreadable: string[] = [];
  const known = isIssued(text)
    ? await keyTable.get(text)
    : named(text, await keyTable.all(({ message }) => unreadable.push(message)));
  if (known) return known;
  for (const message of unreadable) report(message);
  throw new UnknownKeyError(
    `There is no key ${text}. To list all keys: npm run admin -- keys list. ` +
      'If it was created in the AWS console less than five minutes ago: npm run admin -- keys sync',
  );
}

/** All valid records, including revoked keys. */
export const allRecords = ({ keyTable, report }: Target): Promise<KeyRecord[]> =>
  keyTable.all(({ message }) => report(message));

export class UnknownKeyError extends AdminError {}

function named(text: string, records: readonly KeyRecord[]): KeyRecord | undefined {
  const known = records.find(({ keyId }) => keyId === text);
  if (known) return known;
  const wanted = comparable(text);
  const found = records.filter(({ name }) => comparable(name) === wanted);
  const open = found.filter(({ revoked }) => !revoked);
  const [only = found[0], another] = open;
  if (!another) return only;
  const ids = open.slice(0, 3).map((record) => `${idOf(record)} (${record.plan}, created ${isoDay(record.createdAt)})`);
  const more = open.length > ids.length ? ' …' : '';
  throw new AdminError(`${open.length} keys have the name ${text}. Use an id: ${ids.join(', ')}${more}`);
}

/** A name as it is searched for: in any case, and any form of Unicode, as systems type letters with accents. */
export const comparable = (name: string): string => visible(name).normalize('NFKC').trim().toLowerCase();
