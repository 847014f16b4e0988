import type { KeyRecord } from '../../../shared/keys/key-record.ts';
import { NEVER } from '../../../shared/keys/verdict.ts';
import { AdminError } from '../admin-error.ts';
import type { Target } from '../target.ts';
import {
  changedMeanwhile,
  changeRecord,
  INTERIM_MS,
  isSuspendedForGood,
  readRecord,
  waitOutMemory,
} from './change-record.ts';
import { findKey, restoredError, unknownKey, usagePlanOf } from './find-key.ts';
import { setEnabled } from './gateway-calls.ts';
import { type KeyView, keyView } from './key-view.ts';
import { checkNotBusy } from './move-key.ts';

/**
 * Refuses all requests of a key for a while (429), or until it is resumed (401: disabled, in API Gateway too).
 *
 * @param forMs milliseconds; undefined: until it is resumed
 */
export async function suspendKey(target: Target, id: string, forMs: number | undefined): Promise<KeyView> {
  const { record } = await findKey(target, id);
  const until = forMs === undefined ? NEVER : Date.now() + forMs;
  let suspended = await changeRecord(target, record.recordId, (now) => ({
    // A suspension holds until it is over or resumed: another one only makes it longer.
    suspendedUntil: Math.max(until, now.suspendedUntil),
    suspendedByAdmin: true,
    ...(forMs === undefined && { enabled: false }),
  }));
  if (forMs === undefined) {
    suspended = await mirrorSuspension(target, suspended);
    if (!isSuspendedForGood(suspended))
      throw new AdminError(`The key ${suspended.keyId} was suspended, and resumed by another command.`);
  }
  return keyView(suspended);
}

export interface Resumption {
  readonly view: KeyView;
  /** Whether it was closed before. */
  readonly wasClosed: boolean;
}

/**
 * Lets a suspended key in again, whatever suspended it. Its one write replaces the record that was read before API Gateway
 * was changed: what is closed meanwhile stays closed.
 */
export async function resumeKey(target: Target, id: string): Promise<Resumption> {
  const { record, gatewayKey } = await findKey(target, id);
  const wasClosed = !record.enabled || !gatewayKey.enabled || record.suspendedUntil > Date.now();
  if (!wasClosed) return { view: keyView(record), wasClosed };
  if (!(await usagePlanOf(target, id)))
    throw new AdminError(`The key ${id} is on no usage plan. Move it to one first.`);
  if (record.restored) throw restoredError(id);
  checkNotBusy(record);
  // First in API Gateway, or a sync would take the key for one that was disabled there.
  if (!(await setEnabled(target, id, true))) throw unknownKey(id);
  const open = { enabled: true, suspendedUntil: 0, suspendedByAdmin: false, minuteRefused: 0 };
  const resumed = await target.keyTable.revise(record, { ...open, interimUntil: Date.now() + INTERIM_MS });
  if (!resumed) {
    await mirrorSuspension(target, await readRecord(target, record.recordId));
    throw changedMeanwhile(id);
  }
  await waitOutMemory(target);
  return { view: keyView(resumed), wasClosed };
}

/**
 * Writes to API Gateway what the keys table says about a suspension, until no other command changes that meanwhile.
 *
 * @returns the key as it is then
 * @throws AdminError where it is revoked
 */
async function mirrorSuspension(target: Target, record: KeyRecord): Promise<KeyRecord> {
  const { recordId, keyId } = record;
  const isClosed = isSuspendedForGood(record);
  await setEnabled(target, keyId, !isClosed);
  // A new revision: a resumption that has read the key before, and may have enabled it just before, cannot open it.
  const now = isClosed ? await changeRecord(target, recordId, () => ({})) : await readRecord(target, recordId);
  return isSuspendedForGood(now) === isClosed ? now : mirrorSuspension(target, now);
}
