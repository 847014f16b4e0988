import * as v from 'valibot';
import { type ListedKey, readGatewayKey } from '../../../shared/key-registry/gateway-state.ts';
import { differences, type KeyIdentity, type NewRecord, newRecord } from '../../../shared/key-registry/key-table.ts';
import { type KeyRecord, keyRecordSchema } from '../../../shared/keys/key-record.ts';
import { plans } from '../../../shared/keys/plans.ts';
import { isIssued } from '../../../shared/keys/token.ts';
import { NEVER } from '../../../shared/keys/verdict.ts';
import { INTERIM_MS } from '../keys/change-record.ts';
import type { Checked } from '../records/read-records.ts';

const countersSchema = v.pick(keyRecordSchema, [
  'currentMinute',
  'minuteUsed',
  'dayUsed',
  'minuteRefused',
  'suspendedUntil',
  'suspendedByAdmin',
]);

/**
 * A key in the file: what API Gateway is the record of (name, plan, tags, enabled), and what the keys table is (hashes of
 * tokens, counters). Limits and end follow from plan and tags.
 */
const keySchema = v.strictObject({
  ...v.pick(keyRecordSchema, ['recordId', 'keyId', 'name', 'plan', 'enabled']).entries,
  tags: v.record(v.string(), v.string()),
  ...v.pick(keyRecordSchema, ['tokens', 'tokensEndedAt', 'restored']).entries,
  ...countersSchema.entries,
});
/** Takes it from a record, which has more. */
const exportedSchema = v.object(keySchema.entries);

export type KeyEntry = v.InferOutput<typeof keySchema>;

/** The entry of a key of the service, or why it has none. @param id of the record */
export function entryOf(id: string, record: KeyRecord | undefined, key: ListedKey | undefined): KeyEntry | string {
  if (!isIssued(id)) return 'was made in the AWS console, and the file would have to hold its value';
  if (!key) return 'is gone from API Gateway';
  if (!record) return 'has no record that can be read, so none of its tokens works';
  const { keyId, gatewayKey, registered, closeOnly } = key;
  if (closeOnly || !registered) return 'is not complete, or on no usage plan that can be read';
  if ('problem' in registered) return registered.problem;
  const { name = '', enabled = false, tags = {} } = gatewayKey;
  // What begins with `aws:` no admin can set.
  const ownTags = Object.entries(tags).filter(([tag]) => !tag.startsWith('aws:'));
  const { plan } = registered.identity;
  const ofGateway = { keyId, name, plan, enabled, tags: inOrder(ownTags) };
  return v.parse(exportedSchema, { ...record, ...ofGateway, tokens: inOrder(Object.entries(record.tokens)) });
}

/** DynamoDB and API Gateway give names in any order. */
const inOrder = <Value>(entries: readonly [string, Value][]): Record<string, Value> =>
  Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)));

export function checkEntry(value: unknown): Checked<KeyEntry> {
  const result = v.safeParse(keySchema, value);
  // The field, and no more: the hash of a token is not for messages.
  if (!result.success)
    return { fault: `${v.getDotPath(result.issues[0])?.split('.', 1)[0] ?? 'it'} is not as export-all writes it` };
  const entry = result.output;
  if (!isIssued(entry.recordId)) return { fault: 'recordId is not that of a key which the admin command has made' };
  const registered = registeredOf(entry);
  return 'problem' in registered ? { fault: `the key ${registered.problem}` } : { entry };
}

/** What API Gateway will say of the key. */
function registeredOf({ recordId: value, plan, ...gatewayKey }: KeyEntry) {
  return readGatewayKey({ ...gatewayKey, value }, { usagePlanId: '', plan, limits: plans[plan].limits });
}

function identityOf(entry: KeyEntry): KeyIdentity {
  const registered = registeredOf(entry);
  if ('problem' in registered) throw new Error(`The key ${entry.keyId} ${registered.problem}`);
  // As a sync has it: what is suspended, or came back with a backup, stays closed.
  const isOpen = entry.enabled && !entry.restored && entry.suspendedUntil < NEVER;
  return { ...registered.identity, enabled: isOpen };
}

/** The record of a key of the file, by the names that it has got. */
export function recordOf(entry: KeyEntry, names: Pick<KeyRecord, 'keyId' | 'createdAt'>): NewRecord {
  const { tokens, tokensEndedAt, restored } = entry;
  const ofTable = { tokens, ...(tokensEndedAt !== undefined && { tokensEndedAt }), ...(restored && { restored }) };
  const used = { ...v.parse(v.object(countersSchema.entries), entry), interimUntil: Date.now() + INTERIM_MS };
  return newRecord({ ...identityOf(entry), ...names }, { ...ofTable, ...used });
}

/** The fields in which a record differs from a key of the file, but for what its requests change. */
export function differencesTo(entry: KeyEntry, record: KeyRecord): string[] {
  const { keyId: _, createdAt: __, ...identity } = identityOf(entry);
  const { tokens, tokensEndedAt, restored } = entry;
  return Object.keys(differences(record, { ...identity, tokens, tokensEndedAt, restored, revoked: false }));
}
