import type { ApiKey } from '@aws-sdk/client-api-gateway';
import { type CustomerPlan, customerPlans } from '../../../shared/key-registry/customer-plan.ts';
import { gatewayTags } from '../../../shared/key-registry/gateway-tags.ts';
import { isRestored } from '../../../shared/key-registry/mirror.ts';
import { readApiKey, recordIdOf } from '../../../shared/key-registry/registered-key.ts';
import { syncKeys } from '../../../shared/key-registry/sync-keys.ts';
import type { KeyIdentity, KeyRecord } from '../../../shared/keys/key-record.ts';
import { isIssued } from '../../../shared/keys/token.ts';
import { AdminError } from '../admin-error.ts';
import type { Target } from '../target.ts';
import { revokedError } from './change-record.ts';
import { getApiKey } from './gateway-calls.ts';

/** A key as API Gateway and the keys table have it. */
export interface FoundKey {
  readonly id: string;
  readonly apiKey: ApiKey;
  readonly record: KeyRecord;
  /** The customers' usage plan that it is on; undefined while it is on none. */
  readonly usagePlan: CustomerPlan | undefined;
}

/** @throws AdminError where there is no such key, it was revoked, or it is not one of this service */
export async function findKey(target: Target, id: string): Promise<FoundKey> {
  const apiKey = await getApiKey(target, id);
  if (!apiKey?.value) throw unknownKey(id);
  // The next creation of its name clears away what was left unfinished, whatever else was done with it.
  if (apiKey.tags?.[gatewayTags.unfinished] !== undefined) throw unfinishedError(id);
  // The record first: a write that goes by its revision then fails if anything is changed from here on.
  const record = await recordOf(target, apiKey);
  if (record.revoked) throw revokedError(id);
  return { id, apiKey, record, usagePlan: await usagePlanOf(target, id) };
}

/**
 * The same for a command that ends tokens. An ending that is newer than a backup would hide that others came back with it.
 *
 * @throws AdminError, too, where the record came from a backup and no sync has closed it yet
 */
export async function findSyncedKey(target: Target, id: string): Promise<FoundKey> {
  const found = await findKey(target, id);
  if (found.record.restored || !isRestored(found.record, found.apiKey)) return found;
  throw new AdminError(
    `The key ${id} came back with a backup. Run npm run admin -- keys sync, which closes it, and rotate it then.`,
  );
}

export const restoredError = (id: string): AdminError =>
  new AdminError(`The key ${id} came back with a backup, with tokens that had been ended. Rotate it instead.`);

/** The record of a key that API Gateway has. One that was just made in the console gets it now. */
export async function recordOf(target: Target, { id = '', value = '', tags = {} }: ApiKey): Promise<KeyRecord> {
  const recordId = recordIdOf(value) ?? '';
  const record = recordId === '' ? undefined : await target.keyTable.get(recordId);
  if (record?.keyId === id) return record;
  if (tags[gatewayTags.unfinished] !== undefined) throw unfinishedError(id);
  const { problems } = await syncKeys(target.gateway, target.keyTable, target.apiStage);
  const synced = recordId === '' ? undefined : await target.keyTable.get(recordId);
  if (synced?.keyId === id) return synced;
  const problem = problems.find((words) => words.includes(id));
  throw new AdminError(problem ?? `The key ${id} is on no usage plan of this service.`);
}

/** What API Gateway says of a complete key that the admin command has made, and that has no record; else undefined. */
export async function findUnrecorded(target: Target, id: string): Promise<KeyIdentity | undefined> {
  const apiKey = await getApiKey(target, id);
  const { value = '', tags = {} } = apiKey ?? {};
  if (!apiKey || !isIssued(value) || tags[gatewayTags.unfinished] !== undefined) return undefined;
  const usagePlan = await usagePlanOf(target, id);
  if (!usagePlan || (await target.keyTable.get(value))) return undefined;
  const registered = readApiKey(apiKey, usagePlan);
  if ('problem' in registered) throw new AdminError(`The key ${id} ${registered.problem}.`);
  return registered.identity;
}

/** The records of all keys, revoked ones included, without those that are not in order. */
export async function allRecords({ keyTable, notices }: Target): Promise<KeyRecord[]> {
  return (await Array.fromAsync(keyTable.pages(notices.unreadable))).flat();
}

const unfinishedError = (id: string): AdminError =>
  new AdminError(
    `The key ${id} is being made, or was left unfinished and never shown. Another keys create with its name, ten minutes later, clears it away.`,
  );

export const unknownKey = (id: string): AdminError =>
  new AdminError(`There is no key ${id}. List the ids with: npm run admin -- keys list`);

/** The customers' usage plan that a key is on. */
export async function usagePlanOf({ gateway, apiStage }: Target, keyId: string): Promise<CustomerPlan | undefined> {
  return (await customerPlans(gateway, apiStage, { keyId })).plans[0];
}
