import type { KeyRecord } from '../../../shared/keys/key-record.ts';
import { type Limits, type PlanId, plans } from '../../../shared/keys/plans.ts';
import { AdminError } from '../admin-error.ts';
import type { Target } from '../target.ts';
import { changeRecord, INTERIM_MS, outlastLeases } from './change-record.ts';
import { findKey, type FoundKey } from './find-key.ts';
import { cataloguePlan, changeOwnPlan, createOwnPlan, deleteEmptyOwnPlans, isOwnPlan } from './own-plan.ts';
import { putOnPlan, takeOffPlan } from './plan-membership.ts';
import { finish } from './tagging.ts';

/**
 * Puts a key on another plan, or gives an Enterprise key other limits. The keys table comes first, so the new limits
 * hold at once; the counters stay.
 */
export async function moveKey(
  target: Target,
  id: string,
  plan: PlanId,
  agreed: Limits | undefined,
): Promise<KeyRecord> {
  const found = await findKey(target, id);
  const { record } = found;
  if (record.replacedBy !== undefined)
    throw new AdminError(`The key ${id} was rotated. Move the key that replaced it.`);
  const catalogued = plans[plan].limits;
  const limits = catalogued === 'agreed' ? agreed : catalogued;
  if (!limits) throw new AdminError('The Enterprise plan needs its agreed limits: --per-minute N --per-day N.');

  const change = (key: KeyRecord) => ({
    plan,
    ...limits,
    interimUntil: Date.now() + INTERIM_MS,
    // Refusals under the old limits do not count against the key any more.
    ...(!key.suspendedByAdmin && { suspendedUntil: 0 }),
    minuteRefused: 0,
  });
  await changeRecord(target, record.keyHash, change);
  await moveInGateway(target, found, plan, limits);
  // Once more, should a sync have read the old plan in between.
  await changeRecord(target, record.keyHash, change);
  await outlastLeases(record);
  return { ...record, ...change(record) };
}

async function moveInGateway(target: Target, found: FoundKey, plan: PlanId, limits: Limits): Promise<void> {
  const { id, apiKey, usagePlan: from, usagePlans } = found;
  const name = apiKey.name ?? id;
  const isAgreed = plans[plan].limits === 'agreed';
  if (isAgreed && from && isOwnPlan(from)) {
    await changeOwnPlan(target, from.usagePlanId, limits);
    await finish(target, 'usageplans', from.usagePlanId);
    return;
  }
  const to = isAgreed
    ? await createOwnPlan(target, usagePlans, name, limits)
    : cataloguePlan(usagePlans, plan).usagePlanId;
  if (from && from.usagePlanId !== to) await takeOffPlan(target, id, from.usagePlanId);
  await putOnPlan(target, id, to);
  if (isAgreed) await finish(target, 'usageplans', to);
  await deleteEmptyOwnPlans(target, usagePlans, name);
}
