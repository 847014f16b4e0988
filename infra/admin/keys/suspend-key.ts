import type { KeyRecord } from '../../../shared/keys/key-record.ts';
import { UNTIL_RESUMED } from '../../../shared/keys/verdict.ts';
import { AdminError } from '../admin-error.ts';
import type { Target } from '../target.ts';
import {
  changedMeanwhile,
  changeRecord,
  INTERIM_MS,
  isSuspendedForGood,
  outlastMemory,
  readRecord,
} from './change-record.ts';
import { findKey, successorOf, unknownKey, undisclosedSuccessor } from './find-key.ts';
import { setEnabled } from './gateway-calls.ts';
import { type KeyView, keyView } from './key-view.ts';

/**
 * Refuses all requests of a key for a while (429), or until it is resumed (401: disabled, in API Gateway too).
 *
 * @param forMs milliseconds; undefined: until it is resumed
 */
export async function suspendKey(target: Target, id: string, forMs: number | undefined): Promise<KeyView> {
  const { record } = await findKey(target, id);
  const suspended =
    forMs === undefined ? await suspendForGood(target, record) : await suspendUntil(target, record, Date.now() + forMs);
  await outlastMemory(target);
  return keyView(suspended);
}

function suspendUntil(target: Target, { keyHash }: KeyRecord, until: number): Promise<KeyRecord> {
  return changeRecord(target, keyHash, (keyRecord) => {
    // It counts on the other one, and is suspended with it.
    if (keyRecord.replacedBy !== undefined)
      throw new AdminError(
        `The key ${keyRecord.keyId} was rotated. Suspend the key that replaced it (see keys list), or this one without --for.`,
      );
    // A suspension holds until it is over or resumed: another one only makes it longer.
    const earlier = keyRecord.suspendedByAdmin ? keyRecord.suspendedUntil : 0;
    return { suspendedUntil: Math.max(until, earlier), suspendedByAdmin: true };
  });
}

async function suspendForGood(target: Target, { keyHash }: KeyRecord): Promise<KeyRecord> {
  const change = { suspendedUntil: UNTIL_RESUMED, suspendedByAdmin: true, enabled: false };
  const closed = await changeRecord(target, keyHash, () => change);
  // A rotation that is under way must not end with a key that works.
  const successor = await undisclosedSuccessor(target, closed);
  if (successor) await suspendForGood(target, successor);
  const now = await mirrorSuspension(target, closed);
  if (!isSuspendedForGood(now))
    throw new AdminError(`The key ${now.keyId} was suspended, and resumed by somebody else.`);
  return now;
}

export interface Resumption {
  readonly view: KeyView;
  /** Whether it was closed before. */
  readonly wasClosed: boolean;
  /** The id of the key that it was rotated to, which counts for both. */
  readonly successorId: string | undefined;
}

/**
 * Lets a suspended key in again, whoever suspended it. It goes by the key as it is at the start: what is closed
 * meanwhile stays closed.
 */
export async function resumeKey(target: Target, id: string): Promise<Resumption> {
  const { record, apiKey, usagePlan } = await findKey(target, id);
  const wasClosed = !record.enabled || !apiKey.enabled || record.suspendedUntil > Date.now();
  let resumed = record;
  if (wasClosed) {
    if (!usagePlan) throw new AdminError(`The key ${id} is on no usage plan. Move it to one first.`);
    const undisclosed = await undisclosedSuccessor(target, record);
    if (undisclosed) await letIn(target, undisclosed);
    resumed = await letIn(target, record);
    await outlastMemory(target);
  }
  const view = keyView(resumed);
  return { view, wasClosed, successorId: (await successorOf(target, resumed))?.keyId };
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

/**
 * Writes to API Gateway what the keys table says about a suspension, until nobody changes that meanwhile.
 *
 * @returns the key as it is then
 * @throws AdminError where it is revoked
 */
async function mirrorSuspension(target: Target, record: KeyRecord): Promise<KeyRecord> {
  const isClosed = isSuspendedForGood(record);
  await setEnabled(target, record.keyId, !isClosed);
  const now = await readRecord(target, record.keyHash);
  return isSuspendedForGood(now) === isClosed ? now : mirrorSuspension(target, now);
}
