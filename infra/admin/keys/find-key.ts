import { GetApiKeyCommand } from '@aws-sdk/client-api-gateway';
import { ignoreNotFound } from '../../../shared/key-registry/gateway-client.ts';
import { recordIdOf } from '../../../shared/key-registry/live-key.ts';
import { RESTORED } from '../../../shared/key-registry/reconcile.ts';
import { syncKeys } from '../../../shared/key-registry/sync-keys.ts';
import { idOf, type KeyRecord } from '../../../shared/keys/key-record.ts';
import { isIssued } from '../../../shared/keys/token.ts';
import { AdminError } from '../admin-error.ts';
import type { Target } from '../target.ts';
import { visible } from '../text-format.ts';
import { revokedError } from './change-key.ts';

/** Keys that are listed in a message. */
const MAX_LISTED = 3;

/** The key that an admin names. @throws AdminError, too, where it was revoked @see findRecord */
export async function findKey(target: Target, text: string): Promise<KeyRecord> {
  const record = await findRecord(target, text);
  if (record.revoked) throw revokedError(record);
  return record;
}

/**
 * The key that an admin names, also a revoked one: by its id, or by its name where no other key has it. One that was just
 * made in the AWS console gets its record now.
 *
 * @throws AdminError where there is none, or there are several
 */
export async function findRecord(target: Target, text: string): Promise<KeyRecord> {
  const found = await lookUp(target, text);
  if (found.unappliedSince !== RESTORED) return found;
  // What API Gateway has of a key that came back with a copy is newer: a sync takes that over, and no command undoes it.
  await syncKeys(target);
  return (await target.keyTable.get(found.recordId)) ?? found;
}

async function lookUp(target: Target, text: string): Promise<KeyRecord> {
  if (text.trim() === '') throw unknownKey('without a name');
  const { gateway, keyTable } = target;
  const apiKey = isIssued(text)
    ? undefined
    : await ignoreNotFound(gateway.send(new GetApiKeyCommand({ apiKey: text, includeValue: true })));
  const recordId = isIssued(text) ? text : recordIdOf(apiKey?.value ?? '');
  const read = async () => (recordId === undefined ? undefined : keyTable.get(recordId));
  const known = await read();
  if (known) return known;
  if (!apiKey) return named(text, await allRecords(target));
  const { problems, opened } = await syncKeys(target);
  // No later sync reports these again.
  for (const words of problems) if (opened.some((id) => words.includes(id))) target.notices.incomplete(words);
  const synced = await read();
  if (synced) return synced;
  const problem = problems.find((words) => words.includes(text));
  throw new AdminError(problem ?? `The key ${text} is on no usage plan of this service.`);
}

/** All records, revoked ones included, without those that are not in order. */
export const allRecords = ({ keyTable, notices }: Target): Promise<KeyRecord[]> => keyTable.all(notices.unreadable);

/** There is no key of this id, or not any more. */
export class UnknownKeyError extends AdminError {}

const unknownKey = (text: string): AdminError =>
  new UnknownKeyError(`There is no key ${text}. List the ids with: npm run admin -- keys list`);

function named(text: string, records: readonly KeyRecord[]): KeyRecord {
  const known = records.find(({ keyId }) => keyId === text);
  if (known) return known;
  const wanted = comparable(text);
  const found = records.filter(({ name }) => comparable(name) === wanted);
  const open = found.filter(({ revoked }) => !revoked);
  const [only = found[0], another] = open;
  if (another) {
    const ids = open.slice(0, MAX_LISTED).map(idOf);
    const more = open.length > ids.length ? ' …' : '';
    throw new AdminError(`${open.length} keys have the name ${text}. Name one by its id: ${ids.join(', ')}${more}`);
  }
  if (only) return only;
  throw unknownKey(text);
}

const comparable = (name: string): string => visible(name).trim().toLowerCase();
