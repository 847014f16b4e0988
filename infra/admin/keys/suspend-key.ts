import type { KeyRecord } from '../../../shared/keys/key-record.ts';
import { NEVER } from '../../../shared/keys/working-token.ts';
import { latestSuspension } from '../../../shared/keys/verdict.ts';
import { AdminError } from '../admin-error.ts';
import type { Target } from '../target.ts';
import { BusyCommand } from './busy-command.ts';
import {
  changedMeanwhile,
  changeRecord,
  INTERIM_MS,
  isSuspendedForGood,
  readRecord,
  waitForLeases,
} from './change-record.ts';
import { findKey, restoredError, unknownKey, usagePlanOf } from './find-key.ts';
import { setEnabled } from './gateway-calls.ts';
import { type KeyView, keyView } from './key-view.ts';

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
    suspendedUntil: Math.max(until, isMisdated(now) ? 0 : now.suspendedUntil),
    suspendedByAdmin: true,
    ...(forMs === undefined && { enabled: false }),
    // Closing wins over a resumption that is under way.
    ...(now.busy?.by === RESUME && { busy: undefined }),
  }));
  if (forMs === undefined) {
    suspended = await mirrorSuspension(target, suspended);
    if (!isSuspendedForGood(suspended))
      throw new AdminError(`The key ${suspended.keyId} was suspended, and resumed by another command.`);
  }
  await waitForLeases(target);
  return keyView(suspended);
}

/** Suspended by the limiter, by a clock that was wrong: it goes by no such suspension. */
const isMisdated = ({ suspendedUntil, suspendedByAdmin }: KeyRecord): boolean =>
  !suspendedByAdmin && suspendedUntil < NEVER && suspendedUntil > latestSuspension(Date.now());

export interface Resumption {
  readonly view: KeyView;
  /** Whether it was closed before. */
  readonly wasClosed: boolean;
}

const RESUME = 'resume';

/** Lets a suspended key in again, whatever suspended it. What is closed meanwhile stays closed. */
export async function resumeKey(target: Target, id: string): Promise<Resumption> {
  const { record, gatewayKey } = await findKey(target, id);
  const wasClosed = !record.enabled || !gatewayKey.enabled || record.suspendedUntil > Date.now();
  if (!wasClosed) return { view: keyView(record), wasClosed };
  if (!(await usagePlanOf(target, id)))
    throw new AdminError(`The key ${id} is on no usage plan. Move it to one first.`);
  if (record.restored) throw restoredError(id);
  const resumed = await BusyCommand.run(target, record, RESUME, async (command) => {
    // First in API Gateway, or a sync would take the key for one that was disabled there.
    if (!(await setEnabled(target, id, true))) throw unknownKey(id);
    return openRecord(target, command, record);
  });
  await waitForLeases(target);
  return { view: keyView(resumed), wasClosed };
}

/** The last write of a resumption. @throws AdminError where the key was closed meanwhile: API Gateway then says so again */
async function openRecord(target: Target, command: BusyCommand, { recordId, keyId }: KeyRecord): Promise<KeyRecord> {
  const open = { enabled: true, suspendedUntil: 0, suspendedByAdmin: false, minuteRefused: 0 };
  try {
    return await command.end({ ...open, interimUntil: Date.now() + INTERIM_MS });
  } catch (error) {
    if (!(error instanceof AdminError)) throw error;
    const now = await mirrorSuspension(target, await readRecord(target, recordId));
    throw now.enabled && now.suspendedUntil <= Date.now() ? error : changedMeanwhile(keyId);
  }
}

/**
 * Writes to API Gateway what the keys table says about a suspension, until no other command changes that meanwhile.
 *
 * @returns the key as it is then
 * @throws AdminError where it is revoked
 */
async function mirrorSuspension(target: Target, record: KeyRecord): Promise<KeyRecord> {
  const isClosed = isSuspendedForGood(record);
  await setEnabled(target, record.keyId, !isClosed);
  const now = await readRecord(target, record.recordId);
  if (isSuspendedForGood(now) !== isClosed) return mirrorSuspension(target, now);
  if (!isClosed || now.busy?.by !== RESUME) return now;
  // A resumption that began meanwhile may have enabled the key just before this disabled it: closing wins.
  await target.keyTable.revise(now, { busy: undefined });
  return mirrorSuspension(target, await readRecord(target, record.recordId));
}
