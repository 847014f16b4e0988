import {
  CreateUsagePlanCommand,
  DeleteUsagePlanCommand,
  GetUsagePlanKeysCommand,
  paginateGetUsagePlans,
  UpdateUsagePlanCommand,
  type UsagePlan,
} from '@aws-sdk/client-api-gateway';
import type { CustomerPlan } from '../../../shared/key-registry/customer-plan.ts';
import { type ApiStage, PAGE_SIZE } from '../../../shared/key-registry/gateway-client.ts';
import { gatewayTags, isStale } from '../../../shared/key-registry/gateway-tags.ts';
import { type Limits, outerGuard, type PlanId, plans } from '../../../shared/keys/plans.ts';
import { AdminError } from '../admin-error.ts';
import type { Target } from '../target.ts';
import { finish, tag, unlessGone } from './gateway-calls.ts';

/** The usage plan of the catalogue that all keys of a plan are on, or that Enterprise customers' own are named after. */
export function cataloguePlan(usagePlans: readonly CustomerPlan[], planId: PlanId): CustomerPlan {
  const isAgreed = plans[planId].limits === 'agreed';
  const found = usagePlans.find(({ plan, limits }) => plan === planId && (limits === undefined) === isAgreed);
  if (found) return found;
  throw new AdminError(
    `API Gateway has no usage plan for ${plans[planId].title}. Deploy the stack again: it makes one.`,
  );
}

/** Makes the usage plan of one Enterprise customer, marked as unfinished. @returns its id */
export async function createOwnPlan(
  { gateway, apiStage }: Target,
  usagePlans: readonly CustomerPlan[],
  keyName: string,
  limits: Limits,
): Promise<string> {
  const { rateLimit, burstLimit, quotaPerDay } = outerGuard(limits);
  const { id = '' } = await gateway.send(
    new CreateUsagePlanCommand({
      name: `${cataloguePlan(usagePlans, 'enterprise').name}: ${keyName}`,
      apiStages: [apiStage],
      throttle: { rateLimit, burstLimit },
      quota: { limit: quotaPerDay, period: 'DAY' },
      tags: {
        [gatewayTags.plan]: 'enterprise',
        ...limitTags(limits),
        [gatewayTags.ownPlanOf]: ownerTag(apiStage),
        [gatewayTags.unfinished]: new Date().toISOString(),
      },
    }),
  );
  return id;
}

/** Gives the usage plan of one Enterprise customer other limits, if it is there. */
export async function changeOwnPlan(target: Target, usagePlanId: string, limits: Limits): Promise<void> {
  const { rateLimit, burstLimit, quotaPerDay } = outerGuard(limits);
  const update = new UpdateUsagePlanCommand({
    usagePlanId,
    patchOperations: [
      { op: 'replace', path: '/throttle/rateLimit', value: String(rateLimit) },
      { op: 'replace', path: '/throttle/burstLimit', value: String(burstLimit) },
      { op: 'replace', path: '/quota/limit', value: String(quotaPerDay) },
      { op: 'replace', path: '/quota/period', value: 'DAY' },
    ],
  });
  await unlessGone(target.gateway.send(update));
  await tag(target, 'usageplans', usagePlanId, limitTags(limits));
  await finish(target, 'usageplans', usagePlanId);
}

/** Deletes the usage plan of one Enterprise customer that has no key, or no longer. */
export async function discardOwnPlan(target: Target, usagePlanId: string): Promise<void> {
  await deleteIfEmpty(target, { id: usagePlanId, apiStages: [target.apiStage] });
}

/** Says that the keys of an own usage plan are about to leave it, so that {@link clearOwnPlans} finds it afterwards. */
export async function markObsolete(target: Target, { usagePlanId, isOwn }: CustomerPlan): Promise<void> {
  if (isOwn) await tag(target, 'usageplans', usagePlanId, { [gatewayTags.obsolete]: new Date().toISOString() });
}

/** Deletes the own usage plans that their keys have left, and those of a key that was never completed. */
export async function clearOwnPlans(target: Target): Promise<void> {
  const { gateway: client, apiStage } = target;
  const found: UsagePlan[] = [];
  for await (const { items = [] } of paginateGetUsagePlans({ client, pageSize: PAGE_SIZE }, {})) {
    found.push(...items.filter(({ tags = {} }) => tags[gatewayTags.ownPlanOf] === ownerTag(apiStage)));
  }
  for (const plan of found) {
    const { [gatewayTags.obsolete]: obsolete, [gatewayTags.unfinished]: unfinished } = plan.tags ?? {};
    const isLeftOver = unfinished !== undefined && isStale(unfinished, Date.now());
    if (obsolete !== undefined || isLeftOver) await deleteIfEmpty(target, plan);
  }
}

/** Another admin may do the same at the same time. */
async function deleteIfEmpty({ gateway }: Target, { id: usagePlanId, apiStages = [] }: UsagePlan): Promise<void> {
  const keys = await unlessGone(gateway.send(new GetUsagePlanKeysCommand({ usagePlanId, limit: 1 })));
  if (!keys || (keys.items ?? []).length > 0) return;
  // API Gateway deletes no plan that a stage is on.
  const patchOperations = apiStages.map(({ apiId, stage }) => {
    return { op: 'remove' as const, path: '/apiStages', value: `${apiId}:${stage}` };
  });
  if (patchOperations.length > 0)
    await unlessGone(gateway.send(new UpdateUsagePlanCommand({ usagePlanId, patchOperations })));
  await unlessGone(gateway.send(new DeleteUsagePlanCommand({ usagePlanId })));
}

const ownerTag = ({ apiId, stage }: ApiStage): string => `${apiId}/${stage}`;

function limitTags({ perMinute, perDay }: Limits): Record<string, string> {
  return { [gatewayTags.perMinute]: String(perMinute), [gatewayTags.perDay]: String(perDay) };
}
