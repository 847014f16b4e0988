import type { KeyRecord } from '../../../shared/keys/key-record.ts';
import type { Target } from '../target.ts';
import { closeForGood, outlastMemory } from './change-record.ts';
import { allRecords, predecessorsOf, recordOf, unknownKey, undisclosedSuccessor, usagePlanOf } from './find-key.ts';
import { deleteApiKey, getApiKey } from './gateway-calls.ts';
import { clearOwnPlans, markObsolete } from './own-plan.ts';

/** A key that is about to be revoked. */
export interface DoomedKey {
  readonly record: KeyRecord;
  /** The keys that were rotated to it. They count on it and end with it. */
  readonly predecessors: readonly KeyRecord[];
}

/** @throws AdminError where there is no such key, neither in API Gateway nor in the keys table */
export async function findDoomedKey(target: Target, id: string): Promise<DoomedKey> {
  const apiKey = await getApiKey(target, id);
  // An earlier revocation may have been cut off after the key was gone from API Gateway.
  const record = apiKey ? await recordOf(target, apiKey) : (await allRecords(target)).find(({ keyId }) => keyId === id);
  if (!record) throw unknownKey(id);
  return { record, predecessors: await predecessorsOf(target, record) };
}

/**
 * Refuses a key for good. First in the keys table, so that it ends at once; then it is deleted in API Gateway. On a key
 * that is revoked already it finishes what is left to do.
 *
 * @returns the ids of the keys that ended with it
 */
export async function revokeKey(target: Target, { record }: DoomedKey): Promise<string[]> {
  const closed = await closeForGood(target, record);
  // A rotation that is under way must not end with a key that works.
  const successor = await undisclosedSuccessor(target, closed);
  const also = [...(await predecessorsOf(target, closed)), ...(successor ? [successor] : [])];
  for (const key of also) await closeForGood(target, key);

  const usagePlan = await usagePlanOf(target, record.keyId);
  if (usagePlan) await markObsolete(target, usagePlan);
  for (const key of [...also, record]) await deleteApiKey(target, key.keyId);
  await clearOwnPlans(target);
  if (!record.revoked) await outlastMemory(target);
  return also.map(({ keyId }) => keyId);
}
