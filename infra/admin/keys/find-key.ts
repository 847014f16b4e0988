import type { ApiKey } from '@aws-sdk/client-api-gateway';
import { type CustomerPlan, customerPlans } from '../../../shared/key-registry/customer-plan.ts';
import { gatewayTags } from '../../../shared/key-registry/gateway-tags.ts';
import { valueOf } from '../../../shared/key-registry/registered-key.ts';
import { syncKeys } from '../../../shared/key-registry/sync-keys.ts';
import { type KeyRecord, MAX_SUCCESSORS } from '../../../shared/keys/key-record.ts';
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
  // The record first: a write that goes by its revision then fails if anything is changed from here on.
  const record = await recordOf(target, apiKey);
  if (record.revoked) throw revokedError(id);
  return { id, apiKey, record, usagePlan: await usagePlanOf(target, id) };
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

/** The records of all keys, revoked ones included, without those that are not in order. */
export async function allRecords({ keyTable, notices }: Target): Promise<KeyRecord[]> {
  return (await Array.fromAsync(keyTable.pages(notices.unreadable))).flat();
}

/** The records with the times at which their keys stop working: a rotated key stops with those that replaced it. */
export function withEnds(records: readonly KeyRecord[]): KeyRecord[] {
  const byHash = new Map(records.map((record) => [record.keyHash, record]));
  const endOf = ({ expiresAt = Infinity, replacedBy = '' }: KeyRecord, rotations: number): number => {
    const successor = rotations > 0 ? byHash.get(replacedBy) : undefined;
    return successor ? Math.min(expiresAt, endOf(successor, rotations - 1)) : expiresAt;
  };
  return records.map((record) => {
    const expiresAt = endOf(record, MAX_SUCCESSORS);
    return expiresAt === Infinity ? record : { ...record, expiresAt };
  });
}

/** The record of the key that a key was rotated to. */
export async function successorOf({ keyTable }: Target, { replacedBy }: KeyRecord): Promise<KeyRecord | undefined> {
  return replacedBy === undefined ? undefined : keyTable.get(replacedBy);
}

/** The record of the key that a key was rotated to, while that one is not complete and was not shown. */
export async function undisclosedSuccessor(target: Target, record: KeyRecord): Promise<KeyRecord | undefined> {
  const successor = await successorOf(target, record);
  if (!successor || successor.revoked) return undefined;
  const apiKey = await getApiKey(target, successor.keyId);
  return apiKey?.tags?.[gatewayTags.unfinished] === undefined ? undefined : successor;
}

export const unknownKey = (id: string): AdminError =>
  new AdminError(`There is no key ${id}. List the ids with: npm run admin -- keys list`);

/** The customers' usage plan that a key is on. */
export async function usagePlanOf({ gateway, apiStage }: Target, keyId: string): Promise<CustomerPlan | undefined> {
  return (await customerPlans(gateway, apiStage, { keyId })).plans[0];
}

/** The keys that were rotated to this one, directly or by way of others. */
export async function predecessorsOf(target: Target, key: KeyRecord): Promise<KeyRecord[]> {
  return generationsBefore(key, await allRecords(target)).flat();
}

/** The keys among others that were rotated to this one, then those that were rotated to them, and so on. */
export function generationsBefore({ keyHash }: KeyRecord, others: readonly KeyRecord[]): KeyRecord[][] {
  const byReplacement = Map.groupBy(others, ({ replacedBy }) => replacedBy);
  const generations: KeyRecord[][] = [];
  for (let hashes = [keyHash]; ;) {
    const earlier = hashes.flatMap((hash) => byReplacement.get(hash) ?? []);
    if (earlier.length === 0) return generations;
    generations.push(earlier);
    // Tags that were set by hand may lead in a circle.
    for (const hash of hashes) byReplacement.delete(hash);
    hashes = earlier.map((key) => key.keyHash);
  }
}
