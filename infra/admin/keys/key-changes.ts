import { deleteLiveKey, usagePlanIdOf } from '../../../shared/key-registry/apply.ts';
import { differences, type KeyChange, revocation } from '../../../shared/key-registry/key-table.ts';
import { LOOK_FIRST } from '../../../shared/key-registry/reconcile.ts';
import { idOf, type KeyRecord, NEVER } from '../../../shared/keys/key-record.ts';
import type { Limits, PlanId } from '../../../shared/keys/plans.ts';
import { AdminError, reasonOf } from '../admin-error.ts';
import type { Target } from '../target.ts';
import { changeKey } from './change-key.ts';
import { changeRecord, removedError, reportUnapplied, untilDone, waitForRefusalCacheExpiry } from './change-record.ts';
import { findKey } from './find-key.ts';
import { type KeyView, keyView } from './key-view.ts';

/**
 * Refuses all requests of a key for a while (429), or until it is resumed (401: disabled, in API Gateway too).
 *
 * @param forMs milliseconds; undefined: until it is resumed @param reason for its history
 */
export async function suspendKey(target: Target, key: string, forMs?: number, reason?: string): Promise<KeyView> {
  const until = forMs === undefined ? NEVER : Date.now() + forMs;
  const found = await findKey(target, key);
  // The record first, which needs nothing of API Gateway. An edit there that no sync has seen is taken over after it.
  const suspension = ({ suspendedUntil, unappliedSince = LOOK_FIRST }: KeyRecord): KeyChange => ({
    // A suspension holds until it is over or resumed: another one only makes it longer.
    suspendedUntil: Math.max(until, suspendedUntil),
    suspendedByAdmin: true,
    ...(forMs === undefined && { enabled: false, unappliedSince }),
  });
  const suspended = await changeRecord(target, found, suspension, reason);
  if (forMs !== undefined) return keyView(reportUnapplied(target, suspended));
  const applied = changeKey(target, suspended, () => ({}));
  return keyView(await applied.catch((error: unknown) => reportUnapplied(target, suspended, reasonOf(error))));
}

export interface Resumption {
  readonly view: KeyView;
  /** Whether it was closed before. */
  readonly wasBlocked: boolean;
}

/** Lets a suspended key in again, whatever suspended it. What is closed while this goes on stays closed. */
export async function resumeKey(target: Target, key: string): Promise<Resumption> {
  let [isRead, wasBlocked] = [false, false];
  const resumed = await changeKey(target, await findKey(target, key), (now) => {
    if (isRead) throw changedMeanwhile(idOf(now));
    isRead = true;
    wasBlocked = !now.enabled || now.suspendedUntil > Date.now();
    return wasBlocked ? { enabled: true, suspendedUntil: 0, suspendedByAdmin: false, minuteRefused: 0 } : {};
  });
  if (wasBlocked) await waitForRefusalCacheExpiry(target);
  return { view: keyView(resumed), wasBlocked };
}

const changedMeanwhile = (id: string): AdminError =>
  new AdminError(
    `The key ${id} was changed by another command meanwhile. Look at it with npm run admin -- keys show ${id}, and run the command again.`,
  );

/** Puts a key on another plan, or gives an Enterprise key other limits; counters stay. A blocked key stays blocked. */
export async function moveKey(target: Target, key: string, plan: PlanId, limits: Limits): Promise<KeyView> {
  await usagePlanIdOf(target, plan);
  const moved = await changeKey(target, await findKey(target, key), (now, { record, live }) => ({
    plan,
    ...limits,
    // One that was taken off its plan is on one again.
    ...(!record.unappliedSince && live && !live.reading && { enabled: record.enabled && live.enabled }),
    // Refusals under the old limits do not count against the key any more.
    ...(!now.suspendedByAdmin && { suspendedUntil: 0 }),
    minuteRefused: 0,
  }));
  await waitForRefusalCacheExpiry(target);
  return keyView(moved);
}

export interface KeyEdit {
  readonly name?: string;
  /** Unix milliseconds; `NEVER`: it does not. */
  readonly expires?: number | undefined;
}

/** The end of a key as a record has it. */
export const endOf = (expires = NEVER): number | undefined => (expires < NEVER ? expires : undefined);

/** Gives a key another name or end, in API Gateway too. One that has expired works again if its end is later. */
export async function editKey(target: Target, key: string, { name, expires }: KeyEdit): Promise<KeyView> {
  if (name === undefined && expires === undefined)
    throw new AdminError('Nothing to edit: give --name, --expires, or both.');
  const edited = await changeKey(target, await findKey(target, key), (now) =>
    differences(now, { name: name ?? now.name, expiresAtMs: endOf(expires ?? now.expiresAtMs) }),
  );
  if (expires !== undefined) await waitForRefusalCacheExpiry(target);
  return keyView(edited);
}

/** Refuses a key permanently, with all tokens: at once in the keys table; then deletes it in API Gateway. */
export async function revokeKey(target: Target, { recordId }: KeyRecord, reason?: string): Promise<KeyRecord> {
  const revoked = await untilDone(async () => {
    const record = await target.keyTable.get(recordId);
    if (!record) throw removedError();
    return record.revoked ? record : target.keyTable.revise(record, revocation(Date.now()), { reason });
  });
  try {
    if (revoked.keyId !== undefined) await deleteLiveKey(target, revoked.keyId);
  } catch (error) {
    target.notices.incomplete(
      `It is revoked, and still in API Gateway (${reasonOf(error)}): the next sync deletes it there.`,
    );
  }
  return revoked;
}
