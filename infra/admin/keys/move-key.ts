import { gatewayTags } from '../../../shared/key-registry/gateway-tags.ts';
import type { KeyRecord } from '../../../shared/keys/key-record.ts';
import { type Limits, type PlanId, plans } from '../../../shared/keys/plans.ts';
import { AdminError } from '../admin-error.ts';
import type { Target } from '../target.ts';
import { changeRecord, INTERIM_MS, outlastLeases } from './change-record.ts';
import { findKey, type FoundKey } from './find-key.ts';
import { cataloguePlan, changeOwnPlan, clearOwnPlans, createOwnPlan, markObsolete } from './own-plan.ts';
import { putOnPlan, takeOffPlan } from './plan-membership.ts';
import { predecessorsOf } from './predecessors.ts';
import { finish, tag, untag } from './tagging.ts';

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
    enabled: found.apiKey.enabled ?? false,
    interimUntil: Date.now() + INTERIM_MS,
    // Refusals under the old limits do not count against the key any more.
    ...(!key.suspendedByAdmin && { suspendedUntil: 0 }),
    minuteRefused: 0,
  });
  await changeRecord(target, record.keyHash, change);
  await moveInGateway(target, found, plan, limits);
  // Once more, should a sync have read the old plan before.
  await changeRecord(target, record.keyHash, change);
  await outlastLeases(target, record);
  return { ...record, ...change(record) };
}

async function moveInGateway(target: Target, found: FoundKey, plan: PlanId, limits: Limits): Promise<void> {
  const { id, apiKey, record, usagePlan: from, usagePlans } = found;
  const isAgreed = plans[plan].limits === 'agreed';
  if (isAgreed && from?.isOwn) {
    await changeOwnPlan(target, from.usagePlanId, limits);
    await finish(target, 'usageplans', from.usagePlanId);
  } else {
    const to = isAgreed
      ? await createOwnPlan(target, usagePlans, apiKey.name ?? id, limits)
      : cataloguePlan(usagePlans, plan).usagePlanId;
    // The own plan goes, so those that count on this key have to leave it too.
    const others = from?.isOwn ? await predecessorsOf(target, record) : [];
    if (from) await markObsolete(target, from);
    for (const { keyId } of [...others, record]) await changePlan(target, keyId, from?.usagePlanId, to);
    if (isAgreed) await finish(target, 'usageplans', to);
  }
  await clearOwnPlans(target);
}

/** Between the two plans the key is on none. The tag keeps a sync from taking it for one that was taken off. */
async function changePlan(target: Target, keyId: string, from: string | undefined, to: string): Promise<void> {
  await tag(target, 'apikeys', keyId, { [gatewayTags.moving]: new Date().toISOString() });
  if (from !== undefined && from !== to) await takeOffPlan(target, keyId, from);
  await putOnPlan(target, keyId, to);
  await untag(target, 'apikeys', keyId, [gatewayTags.moving]);
}
