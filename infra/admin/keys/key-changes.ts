import { deleteLiveKey, usagePlanIdOf } from '../../../shared/key-registry/apply.ts';
import { differences, type KeyChange, revocation } from '../../../shared/key-registry/record-changes.ts';
import { takesEdits, UNREAD } from '../../../shared/key-registry/reconcile.ts';
import { idOf, type KeyRecord, NO_EXPIRY, UNTIL_RESUMED } from '../../../shared/keys/key-record.ts';
import type { ExactLimits, PlanId } from '../../../shared/keys/plans.ts';
import { AdminError, reasonOf } from '../service/failures.ts';
import type { Target } from '../service/target.ts';
import {
  changeKey,
  changeRecord,
  removedError,
  reportUnapplied,
  untilDone,
  waitForRefusalCacheExpiry,
} from './change-key.ts';
import { findKey } from './find-key.ts';
import { type KeyView, keyView } from './key-view.ts';

/**
 * Suspends a key for a time (429), or until it is resumed (401: disabled, in API Gateway too).
 *
 * @param forMs milliseconds; undefined until it is resumed @param reason for its history
 */
export async function suspendKey(target: Target, key: string, forMs?: number, reason?: string): Promise<KeyView> {
  const until = forMs === undefined ? UNTIL_RESUMED : Date.now() + forMs;
  const found = await findKey(target, key);
  // First the record, without API Gateway. An edit there that no sync has read is adopted afterwards.
  const suspension = ({ suspendedUntil, unappliedSince = UNREAD }: KeyRecord): KeyChange => ({
    // Another suspension can only extend the current one.
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
  /** Whether the key was blocked before. */
  readonly wasBlocked: boolean;
}

/** Resumes a suspended or disabled key. A key that is blocked again in the meantime stays blocked. */
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
    `Another command has changed the key ${id}. Check it with npm run admin -- keys show ${id}, then run this command again.`,
  );

/** Moves a key to another plan, or changes an Enterprise key's limits. Counters stay; a blocked key stays blocked. */
export async function moveKey(target: Target, key: string, plan: PlanId, limits: ExactLimits): Promise<KeyView> {
  await usagePlanIdOf(target, plan);
  const moved = await changeKey(target, await findKey(target, key), (now, { record, live }) => ({
    plan,
    ...limits,
    // A key without a plan gets one.
    ...(takesEdits(record) && live && !live.reading && { enabled: record.enabled && live.enabled }),
    // Refusals under the old limits no longer count toward a suspension.
    ...(!now.suspendedByAdmin && { suspendedUntil: 0 }),
    minuteRefused: 0,
  }));
  await waitForRefusalCacheExpiry(target);
  return keyView(moved);
}

export interface KeyEdit {
  readonly name?: string;
  /** Unix milliseconds; `NO_EXPIRY` if it does not expire. */
  readonly expires?: number | undefined;
}

/** The expiration as stored. */
export const endOf = (expires = NO_EXPIRY): number | undefined => (expires < NO_EXPIRY ? expires : undefined);

/** Changes the name or expiration of a key, in API Gateway too. A later expiration reactivates an expired key. */
export async function editKey(target: Target, key: string, { name, expires }: KeyEdit): Promise<KeyView> {
  if (name === undefined && expires === undefined)
    throw new AdminError('Nothing to edit. Pass --name, --expires or both.');
  const edited = await changeKey(target, await findKey(target, key), (now) =>
    differences(now, { name: name ?? now.name, expiresAtMs: endOf(expires ?? now.expiresAtMs) }),
  );
  if (expires !== undefined) await waitForRefusalCacheExpiry(target);
  return keyView(edited);
}

/** Revokes a key and its tokens permanently: first in the keys table, effective immediately, then in API Gateway. */
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
      `The key is revoked. API Gateway still has it (${reasonOf(error)}): the next sync deletes it.`,
    );
  }
  return revoked;
}
