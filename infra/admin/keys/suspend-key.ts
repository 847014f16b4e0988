import type { KeyRecord } from '../../../shared/keys/key-record.ts';
import { UNTIL_RESUMED } from '../../../shared/keys/suspension.ts';
import { AdminError } from '../admin-error.ts';
import type { Target } from '../target.ts';
import { changedMeanwhile, changeRecord, INTERIM_MS, isSuspendedForGood, readRecord } from './change-record.ts';
import { findKey, unknownKey, unknownSuccessor } from './find-key.ts';
import { mirrorSuspension, setEnabled } from './set-enabled.ts';

/** Refuses all requests of a key for a while (429), or until it is resumed (401: disabled, in API Gateway too). */
export async function suspendKey(target: Target, id: string, forMs: number | undefined): Promise<KeyRecord> {
  const { record } = await findKey(target, id);
  return forMs === undefined ? suspendForGood(target, record) : suspendUntil(target, record, Date.now() + forMs);
}

function suspendUntil(target: Target, { keyHash }: KeyRecord, until: number): Promise<KeyRecord> {
  return changeRecord(target, keyHash, (key) => {
    // It counts on the other one, and is suspended with it.
    if (key.replacedBy !== undefined)
      throw new AdminError(
        `The key ${key.keyId} was rotated. Suspend the key that replaced it, or this one without --for.`,
      );
    // A suspension holds until it is over or resumed: another one only makes it longer.
    return { suspendedUntil: Math.max(until, key.suspendedByAdmin ? key.suspendedUntil : 0), suspendedByAdmin: true };
  });
}

async function suspendForGood(target: Target, { keyHash }: KeyRecord): Promise<KeyRecord> {
  const change = { suspendedUntil: UNTIL_RESUMED, suspendedByAdmin: true, enabled: false };
  const closed = await changeRecord(target, keyHash, () => change);
  // A rotation that is under way must not end with a key that works.
  const successor = await unknownSuccessor(target, closed);
  if (successor) await suspendForGood(target, successor);
  const now = await mirrorSuspension(target, closed);
  if (!isSuspendedForGood(now))
    throw new AdminError(`The key ${now.keyId} was suspended, and resumed by somebody else.`);
  return now;
}

export interface Resumption {
  readonly record: KeyRecord;
  /** Whether it was closed before. */
  readonly wasClosed: boolean;
}

/**
 * Lets a suspended key in again, whoever suspended it. It goes by the key as it is at the start: what is closed
 * meanwhile stays closed.
 */
export async function resumeKey(target: Target, id: string): Promise<Resumption> {
  const { record, apiKey, usagePlan } = await findKey(target, id);
  const isOpen = record.enabled && apiKey.enabled && record.suspendedUntil <= Date.now();
  if (isOpen) return { record, wasClosed: false };
  if (!usagePlan) throw new AdminError(`The key ${id} is on no usage plan. Move it to one first.`);
  const successor = await unknownSuccessor(target, record);
  if (successor) await letIn(target, successor);
  return { record: await letIn(target, record), wasClosed: true };
}

async function letIn(target: Target, record: KeyRecord): Promise<KeyRecord> {
  // First in API Gateway, or a sync would take the key for one that was disabled there.
  if (!(await setEnabled(target, record.keyId, true))) {
    await readRecord(target, record.keyHash);
    throw unknownKey(record.keyId);
  }
  const resumed = await target.keyTable.revise(record, {
    enabled: true,
    suspendedUntil: 0,
    suspendedByAdmin: false,
    minuteRefused: 0,
    interimUntil: Date.now() + INTERIM_MS,
  });
  if (resumed) return resumed;
  const now = await mirrorSuspension(target, await readRecord(target, record.keyHash));
  if (!now.enabled || now.suspendedUntil > Date.now()) throw changedMeanwhile(record.keyId);
  return now;
}
