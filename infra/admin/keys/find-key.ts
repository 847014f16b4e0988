import { GetApiKeyCommand } from '@aws-sdk/client-api-gateway';
import { ignoreNotFound } from '../../../shared/key-registry/gateway.ts';
import { recordIdOf } from '../../../shared/key-registry/live-key.ts';
import { idOf, type KeyRecord, type UnreadableRecordError } from '../../../shared/keys/key-record.ts';
import { isIssued, withoutTokens } from '../../../shared/keys/token.ts';
import { AdminError, awsReason } from '../service/failures.ts';
import type { Target } from '../service/target.ts';
import { visible } from '../service/text.ts';
import { revokedError, syncNow } from './change-record.ts';

/** Maximum number of keys listed in a message. */
const MAX_LISTED = 3;

/** Finds a key by id or name. @throws AdminError also if it was revoked @see findRecord */
export async function findKey(target: Target, text: string): Promise<KeyRecord> {
  const record = await findRecord(target, text);
  if (record.revoked) throw revokedError(record);
  return record;
}

/**
 * Finds a key, also a revoked one, by its id, or by its name if unique. Without a matching record, API Gateway is
 * queried: a key that was just created in the AWS console gets its record now.
 *
 * @throws AdminError if there is no such key, or several
 */
export async function findRecord(target: Target, text: string): Promise<KeyRecord> {
  if (text.trim() === '') throw unknownKey('without an id or name');
  // The query of API Gateway has it in its URL, which CloudTrail stores.
  if (withoutTokens(text) !== text)
    throw new AdminError('That is a token. Look it up with: npm run admin -- keys find');
  const { keyTable, notices } = target;
  const unreadable: UnreadableRecordError[] = [];
  const known = isIssued(text)
    ? await keyTable.get(text)
    : named(text, await keyTable.all((error) => unreadable.push(error)));
  if (known) return known;
  unreadable.forEach(notices.unreadable);
  return recordOfApiKey(target, text);
}

async function recordOfApiKey(target: Target, keyId: string): Promise<KeyRecord> {
  const { gateway, keyTable } = target;
  const call = gateway.send(new GetApiKeyCommand({ apiKey: keyId, includeValue: true }));
  const apiKey = await ignoreNotFound(call).catch((error: unknown) => {
    const reason = awsReason(error);
    if (reason === undefined) throw error;
    throw new AdminError(
      `No record has the id or name ${keyId}. API Gateway may have a new key without a record, but could not be queried: ${reason}.`,
    );
  });
  if (!apiKey) throw unknownKey(keyId);
  const { problems } = await syncNow(target);
  const recordId = recordIdOf(apiKey.value ?? '');
  const synced = recordId === undefined ? undefined : await keyTable.get(recordId);
  if (synced) return synced;
  const problem = problems.find((words) => words.includes(keyId));
  throw new AdminError(problem ?? `The key ${keyId} is on no usage plan of this service.`);
}

/** All valid records, including revoked keys. */
export const allRecords = ({ keyTable, notices }: Target): Promise<KeyRecord[]> => keyTable.all(notices.unreadable);

/** No key has this id or name. */
export class UnknownKeyError extends AdminError {}

const unknownKey = (text: string): AdminError =>
  new UnknownKeyError(`There is no key ${text}. To list all keys: npm run admin -- keys list`);

function named(text: string, records: readonly KeyRecord[]): KeyRecord | undefined {
  const known = records.find(({ keyId }) => keyId === text);
  if (known) return known;
  const wanted = comparable(text);
  const found = records.filter(({ name }) => comparable(name) === wanted);
  const open = found.filter(({ revoked }) => !revoked);
  const [only = found[0], another] = open;
  if (!another) return only;
  const ids = open
    .slice(0, MAX_LISTED)
    .map(
      (record) => `${idOf(record)} (${record.plan}, created ${new Date(record.createdAt).toISOString().slice(0, 10)})`,
    );
  const more = open.length > ids.length ? ' …' : '';
  throw new AdminError(`${open.length} keys have the name ${text}. Use an id: ${ids.join(', ')}${more}`);
}

const comparable = (name: string): string => visible(name).trim().toLowerCase();
