import { usagePlanIdOf } from '../../../shared/key-registry/apply.ts';
import type { Limits, PlanId } from '../../../shared/keys/plans.ts';
import type { Target } from '../target.ts';
import { changeKey, waitOutMemory } from './change-key.ts';
import { findKey } from './find-key.ts';
import { type KeyView, keyView } from './key-view.ts';

/** Puts a key on another plan, or gives an Enterprise key other limits; the counters stay. A key that is closed stays closed. */
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
  await waitOutMemory(target);
  return keyView(moved);
}
