import type { KeyRecord } from '../../../shared/keys/key-record.ts';
import { AdminError } from '../admin-error.ts';
import type { Target } from '../target.ts';
import { changeRecord, INTERIM_MS, outlastLeases } from './change-record.ts';
import { findKey, unknownKey } from './find-key.ts';
import { setEnabled } from './set-enabled.ts';

/** Refuses all requests of a key for a while (429), or until it is resumed (401: disabled, in API Gateway too). */
export async function suspendKey(target: Target, id: string, forMs: number | undefined): Promise<KeyRecord> {
  const { record } = await findKey(target, id);
  // It counts on the other one, and is suspended with it.
  if (forMs !== undefined && record.replacedBy !== undefined)
    throw new AdminError(`The key ${id} was rotated. Suspend the key that replaced it, or this one without --for.`);
  const change =
    forMs === undefined ? { enabled: false } : { suspendedUntil: Date.now() + forMs, suspendedByAdmin: true };
  await changeRecord(target, record.keyHash, () => change);
  if (forMs === undefined) {
    await setEnabled(target, id, false);
    // Once more, should a sync have read the key as enabled in between.
    await changeRecord(target, record.keyHash, () => change);
  }
  await outlastLeases(target, record);
  return { ...record, ...change };
}

/** Lets a suspended key in again, whoever suspended it. */
export async function resumeKey(target: Target, id: string): Promise<KeyRecord> {
  const { record } = await findKey(target, id);
  const change = {
    enabled: true,
    suspendedUntil: 0,
    suspendedByAdmin: false,
    minuteRefused: 0,
    interimUntil: Date.now() + INTERIM_MS,
  };
  if (!(await setEnabled(target, id, true))) throw unknownKey(id);
  await changeRecord(target, record.keyHash, () => change);
  await outlastLeases(target, record);
  return { ...record, ...change };
}
