import { DeleteApiKeyCommand, NotFoundException } from '@aws-sdk/client-api-gateway';
import { customerPlans } from '../../../shared/key-registry/customer-plan.ts';
import type { KeyRecord } from '../../../shared/keys/key-record.ts';
import type { Target } from '../target.ts';
import { changeRecord, outlastLeases } from './change-record.ts';
import { findKey, getApiKey, recordWithId, unknownKey } from './find-key.ts';
import { deleteEmptyOwnPlans } from './own-plan.ts';
import { predecessorsOf } from './predecessors.ts';

/** A key that is about to be revoked. */
export interface DoomedKey {
  readonly record: KeyRecord;
  /** The keys that were rotated to it. They count on it and end with it. */
  readonly predecessors: readonly KeyRecord[];
}

/** @throws AdminError where there is no such key, neither in API Gateway nor left over in the keys table */
export async function findDoomedKey(target: Target, id: string): Promise<DoomedKey> {
  // An earlier revocation may have been cut off after the key was gone from API Gateway.
  const record = (await getApiKey(target, id)) ? (await findKey(target, id)).record : await recordWithId(target, id);
  if (!record) throw unknownKey(id);
  return { record, predecessors: await predecessorsOf(target, record) };
}

/** Refuses a key for good. First in the keys table, so that it ends at once; then it is deleted everywhere. */
export async function revokeKey(target: Target, { record, predecessors }: DoomedKey): Promise<void> {
  const before = await changeRecord(target, record.keyHash, () => ({ enabled: false }));
  await outlastLeases(before);
  for (const key of predecessors) {
    await deleteApiKey(target, key.keyId);
    await target.keyTable.delete(key.keyHash);
  }
  await deleteApiKey(target, record.keyId);
  const { plans } = await customerPlans(target.gateway, target.apiStage);
  if (record.plan === 'enterprise') await deleteEmptyOwnPlans(target, plans, record.name);
  // Last: as long as the record is there, the command can be run again.
  await target.keyTable.delete(record.keyHash);
}

async function deleteApiKey({ gateway }: Target, apiKey: string): Promise<void> {
  try {
    await gateway.send(new DeleteApiKeyCommand({ apiKey }));
  } catch (error) {
    if (!(error instanceof NotFoundException)) throw error;
  }
}
