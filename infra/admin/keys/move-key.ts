import { type CustomerPlan, customerPlans } from '../../../shared/key-registry/customer-plan.ts';
import { gatewayTags } from '../../../shared/key-registry/gateway-tags.ts';
import type { KeyRecord } from '../../../shared/keys/key-record.ts';
import { type Limits, type PlanId, plans } from '../../../shared/keys/plans.ts';
import { AdminError } from '../admin-error.ts';
import type { Target } from '../target.ts';
import { changedMeanwhile, changeRecord, INTERIM_MS, outlastMemory, readRecord } from './change-record.ts';
import { findKey, type FoundKey, predecessorsOf, usagePlanOf } from './find-key.ts';
import { finish, getApiKey, putOnPlan, tag, takeOffPlan, untag } from './gateway-calls.ts';
import { type KeyView, keyView } from './key-view.ts';
import {
  cataloguePlan,
  changeOwnPlan,
  clearOwnPlans,
  createOwnPlan,
  discardOwnPlan,
  markObsolete,
} from './own-plan.ts';

/**
 * Puts a key on another plan, or gives an Enterprise key other limits. The keys table comes first, so the new limits
 * hold at once; the counters stay. A key that is closed stays closed.
 */
export async function moveKey(target: Target, id: string, plan: PlanId, limits: Limits): Promise<KeyView> {
  const found = await findKey(target, id);
  const { record } = found;
  if (record.replacedBy !== undefined)
    throw new AdminError(`The key ${id} was rotated. Move the key that replaced it.`);
  const written = await target.keyTable.revise(record, {
    plan,
    ...limits,
    interimUntil: Date.now() + INTERIM_MS,
    // Refusals under the old limits do not count against the key any more.
    ...(!record.suspendedByAdmin && { suspendedUntil: 0 }),
    minuteRefused: 0,
  });
  if (!written) {
    await readRecord(target, record.keyHash);
    throw changedMeanwhile(id);
  }
  try {
    if (plans[plan].limits === 'agreed') await moveToOwnPlan(target, found, limits);
    else await moveToCataloguePlan(target, found, plan);
  } catch (error) {
    // Where it was revoked, that is what the admin should be told.
    if (error instanceof AdminError) await readRecord(target, written.keyHash);
    throw error;
  }
  await clearOwnPlans(target);
  const moved = await settle(target, written);
  await outlastMemory(target);
  return keyView(moved);
}

/** Makes sure that the table still says so, if another admin has changed the key meanwhile. */
async function settle(target: Target, { keyHash, keyId, plan, perMinute, perDay }: KeyRecord): Promise<KeyRecord> {
  const now = await readRecord(target, keyHash);
  if (now.plan === plan && now.perMinute === perMinute && now.perDay === perDay) return now;
  // Another admin, or a sync that had read the old plan before: API Gateway says who was the last.
  const usagePlan = await usagePlanOf(target, keyId);
  if (usagePlan?.plan !== plan) throw changedMeanwhile(keyId);
  if (usagePlan.isOwn) await changeOwnPlan(target, usagePlan.usagePlanId, { perMinute, perDay });
  return changeRecord(target, keyHash, () => ({ plan, perMinute, perDay }));
}

async function moveToOwnPlan(target: Target, { id, apiKey, usagePlan: from }: FoundKey, limits: Limits): Promise<void> {
  if (from?.isOwn) {
    await changeOwnPlan(target, from.usagePlanId, limits);
    // An earlier move was cut off after it had put the key on this plan.
    if (apiKey.tags?.[gatewayTags.moving] !== undefined) await untag(target, 'apikeys', id, gatewayTags.moving);
    return;
  }
  const { plans: usagePlans } = await customerPlans(target.gateway, target.apiStage);
  const to = await createOwnPlan(target, usagePlans, apiKey.name ?? id, limits);
  try {
    await changePlan(target, id, from, to);
  } catch (error) {
    if (error instanceof AdminError) await discardOwnPlan(target, to);
    throw error;
  }
  await finish(target, 'usageplans', to);
}

async function moveToCataloguePlan(target: Target, { record, usagePlan: from }: FoundKey, plan: PlanId): Promise<void> {
  const { plans: usagePlans } = await customerPlans(target.gateway, target.apiStage);
  const to = cataloguePlan(usagePlans, plan).usagePlanId;
  // The own plan is deleted, so the keys that were rotated to this one have to leave it too.
  const others = from?.isOwn ? await predecessorsOf(target, record) : [];
  if (from) await markObsolete(target, from);
  for (const { keyId } of others) {
    if (await getApiKey(target, keyId)) await changePlan(target, keyId, from, to);
  }
  await changePlan(target, record.keyId, from, to);
  if (from?.isOwn) await discardOwnPlan(target, from.usagePlanId);
}

/** Between the two plans the key is on none. The tag keeps a sync from taking it for one that was taken off. */
async function changePlan(target: Target, keyId: string, from: CustomerPlan | undefined, to: string): Promise<void> {
  await tag(target, 'apikeys', keyId, { [gatewayTags.moving]: new Date().toISOString() });
  try {
    if (from && from.usagePlanId !== to) await takeOffPlan(target, keyId, from.usagePlanId);
    await putOnPlan(target, keyId, to);
  } catch (error) {
    if (error instanceof AdminError) await untag(target, 'apikeys', keyId, gatewayTags.moving);
    throw error;
  }
  await untag(target, 'apikeys', keyId, gatewayTags.moving);
}
