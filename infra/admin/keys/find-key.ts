import type { ApiKey } from '@aws-sdk/client-api-gateway';
import { type CustomerPlan, customerPlans } from '../../../shared/key-registry/customer-plan.ts';
import { gatewayTags } from '../../../shared/key-registry/gateway-tags.ts';
import { valueOf } from '../../../shared/key-registry/registered-key.ts';
import { syncKeys } from '../../../shared/key-registry/sync-keys.ts';
import type { KeyRecord } from '../../../shared/keys/key-record.ts';
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
  // The record first: whoever goes by it finds out about what is changed from here on.
  const record = await recordOf(target, apiKey);
  if (record.revoked) throw revokedError(id);
  const usagePlan = await usagePlanOf(target, id);
  return { id, apiKey, record, usagePlan };
}

/** The record of a key that API Gateway has. One that was just made in the console gets it now. */
export async function recordOf(target: Target, { id = '', value = '', tags = {} }: ApiKey): Promise<KeyRecord> {
  const { keyHash } = valueOf(value);
  const record = await target.keyTable.get(keyHash);
  if (record?.keyId === id) return record;
  if (tags[gatewayTags.unfinished] !== undefined)
    throw new AdminError(`The key ${id} is being made, or was left unfinished. Nobody knows it.`);
  const { problems } = await syncKeys(target.gateway, target.keyTable, target.apiStage);
  const synced = await target.keyTable.get(keyHash);
  if (synced?.keyId === id) return synced;
  const problem = problems.find((words) => words.includes(id));
  throw new AdminError(problem ?? `The key ${id} is on no usage plan of this service.`);
}

/** The key in the keys table, looked for by its id in all of it. */
export async function recordWithId(target: Target, id: string): Promise<KeyRecord | undefined> {
  for await (const page of keyPages(target)) {
    const found = page.find(({ keyId }) => keyId === id);
    if (found) return found;
  }
  return undefined;
}

/** All keys of the keys table, page by page, without those whose records are not in order. */
export function keyPages({ keyTable, notices }: Target): AsyncGenerator<KeyRecord[]> {
  return keyTable.pages(notices.unreadable);
}

/** The record of the key that a key was rotated to. */
export async function successorOf({ keyTable }: Target, { replacedBy }: KeyRecord): Promise<KeyRecord | undefined> {
  return replacedBy === undefined ? undefined : keyTable.get(replacedBy);
}

/** The record of the key that a key was rotated to, as long as nobody knows that one: it is not complete. */
export async function unknownSuccessor(target: Target, record: KeyRecord): Promise<KeyRecord | undefined> {
  const successor = await successorOf(target, record);
  if (!successor || successor.revoked) return undefined;
  const apiKey = await getApiKey(target, successor.keyId);
  return apiKey?.tags?.[gatewayTags.unfinished] === undefined ? undefined : successor;
}

export function unknownKey(id: string): AdminError {
  return new AdminError(`There is no key ${id}. List the ids with: npm run admin -- keys list`);
}

/** The customers' usage plan that a key is on. */
export async function usagePlanOf({ gateway, apiStage }: Target, keyId: string): Promise<CustomerPlan | undefined> {
  const { plans } = await customerPlans(gateway, apiStage, { keyId });
  return plans[0];
}

/** The keys that were rotated to this one, directly or by way of others. */
export async function predecessorsOf(target: Target, key: Pick<KeyRecord, 'keyHash'>): Promise<KeyRecord[]> {
  return (await generationsBefore(target, key)).flat();
}

/**
 * The keys that were rotated to this one, then those that were rotated to them, and so on.
 *
 * @param counts which keys are followed
 */
export async function generationsBefore(
  target: Target,
  { keyHash }: Pick<KeyRecord, 'keyHash'>,
  counts: (key: KeyRecord) => boolean = () => true,
): Promise<KeyRecord[][]> {
  const rotated: KeyRecord[] = [];
  for await (const page of keyPages(target)) {
    rotated.push(...page.filter((key) => key.replacedBy !== undefined && counts(key)));
  }
  const generations: KeyRecord[][] = [];
  const found = new Set<KeyRecord>();
  for (let successors = new Set([keyHash]); successors.size > 0;) {
    const earlier = rotated.filter((key) => successors.has(key.replacedBy ?? '') && !found.has(key));
    for (const key of earlier) found.add(key);
    if (earlier.length > 0) generations.push(earlier);
    successors = new Set(earlier.map((key) => key.keyHash));
  }
  return generations;
}
