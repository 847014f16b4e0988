import { DeleteApiKeyCommand, NotFoundException } from '@aws-sdk/client-api-gateway';
import type { CustomerPlan } from '../../../shared/key-registry/customer-plan.ts';
import type { KeyChange } from '../../../shared/key-registry/key-table.ts';
import type { KeyRecord } from '../../../shared/keys/key-record.ts';
import type { Target } from '../target.ts';
import { changeRecord, changeRecordIfThere, outlastLeases } from './change-record.ts';
import { findKey, getApiKey, recordWithId, unknownKey } from './find-key.ts';
import { clearOwnPlans, markObsolete } from './own-plan.ts';
import { predecessorsOf } from './predecessors.ts';
import { setEnabled } from './set-enabled.ts';

/** A key that is about to be revoked. */
export interface DoomedKey {
  readonly record: KeyRecord;
  /** The keys that were rotated to it. They count on it and end with it. */
  readonly predecessors: readonly KeyRecord[];
  /** Where it is; undefined where it is on none any more. */
  readonly usagePlan: CustomerPlan | undefined;
}

/** @throws AdminError where there is no such key, neither in API Gateway nor left over in the keys table */
export async function findDoomedKey(target: Target, id: string): Promise<DoomedKey> {
  if (await getApiKey(target, id)) {
    const { record, usagePlan } = await findKey(target, id);
    return { record, usagePlan, predecessors: await predecessorsOf(target, record) };
  }
  // An earlier revocation may have been cut off after the key was gone from API Gateway.
  const record = await recordWithId(target, id);
  if (!record || record.revoked) throw unknownKey(id);
  return { record, usagePlan: undefined, predecessors: await predecessorsOf(target, record) };
}

const disable = (): KeyChange => ({ enabled: false });

/** Refuses a key for good. First in the keys table, so that it ends at once; then it is deleted everywhere. */
export async function revokeKey(target: Target, { record, usagePlan, predecessors }: DoomedKey): Promise<void> {
  const before = await changeRecord(target, record.keyHash, disable);
  // In API Gateway too, and once more, or a sync would let it in again as long as it is there.
  if (await setEnabled(target, record.keyId, false)) await changeRecord(target, record.keyHash, disable);
  await outlastLeases(target, before);
  if (usagePlan) await markObsolete(target, usagePlan);
  for (const key of [...predecessors, record]) await deleteApiKey(target, key.keyId);
  await clearOwnPlans(target);
  // Last: as long as the record is there, the command can be run again. What stays keeps a sync that has read the key
  // before from adding it; the next one removes it.
  for (const key of [...predecessors, record]) {
    await changeRecordIfThere(target, key.keyHash, () => ({ enabled: false, revoked: true }));
  }
}

async function deleteApiKey({ gateway }: Target, apiKey: string): Promise<void> {
  try {
    await gateway.send(new DeleteApiKeyCommand({ apiKey }));
  } catch (error) {
    if (!(error instanceof NotFoundException)) throw error;
  }
}
