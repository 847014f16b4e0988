import {
  CreateUsagePlanCommand,
  DeleteUsagePlanCommand,
  GetUsagePlanKeysCommand,
  paginateGetUsagePlans,
  UpdateUsagePlanCommand,
  type UsagePlan,
} from '@aws-sdk/client-api-gateway';
import type { CustomerPlan } from '../../../shared/key-registry/customer-plan.ts';
import { PAGE_SIZE } from '../../../shared/key-registry/gateway-client.ts';
import { gatewayTags } from '../../../shared/key-registry/gateway-tags.ts';
import { type Limits, outerGuard, type PlanId, plans } from '../../../shared/keys/plans.ts';
import { AdminError } from '../admin-error.ts';
import type { Target } from '../target.ts';
import { tag } from './tagging.ts';

/** The usage plan of the catalogue that all keys of a plan are on, or that Enterprise customers' own are named after. */
export function cataloguePlan(usagePlans: readonly CustomerPlan[], planId: PlanId): CustomerPlan {
  const own = plans[planId].limits === 'agreed';
  const found = usagePlans.find(({ plan, limits }) => plan === planId && (limits === undefined) === own);
  if (found) return found;
  throw new AdminError(
    `API Gateway has no usage plan for ${plans[planId].title}. Deploy the stack again: it makes one.`,
  );
}

/** Makes the usage plan of one Enterprise customer, marked as unfinished. */
export async function createOwnPlan(
  { gateway, apiStage }: Target,
  usagePlans: readonly CustomerPlan[],
  keyName: string,
  limits: Limits,
): Promise<string> {
  const { rateLimit, burstLimit, quotaPerDay } = outerGuard(limits);
  const { id = '' } = await gateway.send(
    new CreateUsagePlanCommand({
      name: ownPlanName(usagePlans, keyName),
      apiStages: [apiStage],
      throttle: { rateLimit, burstLimit },
      quota: { limit: quotaPerDay, period: 'DAY' },
      tags: {
        [gatewayTags.plan]: 'enterprise',
        ...limitTags(limits),
        [gatewayTags.unfinished]: new Date().toISOString(),
      },
    }),
  );
  return id;
}

function ownPlanName(usagePlans: readonly CustomerPlan[], keyName: string): string {
  return `${cataloguePlan(usagePlans, 'enterprise').name}: ${keyName}`;
}

/** Gives the usage plan of one Enterprise customer other limits. */
export async function changeOwnPlan(target: Target, usagePlanId: string, limits: Limits): Promise<void> {
  const { rateLimit, burstLimit, quotaPerDay } = outerGuard(limits);
  await target.gateway.send(
    new UpdateUsagePlanCommand({
      usagePlanId,
      patchOperations: [
        { op: 'replace', path: '/throttle/rateLimit', value: String(rateLimit) },
        { op: 'replace', path: '/throttle/burstLimit', value: String(burstLimit) },
        { op: 'replace', path: '/quota/limit', value: String(quotaPerDay) },
      ],
    }),
  );
  await tag(target, 'usageplans', usagePlanId, limitTags(limits));
}

/** Whether a usage plan is that of one Enterprise customer. */
export function isOwnPlan({ plan, limits }: CustomerPlan): boolean {
  return plan === 'enterprise' && limits !== undefined;
}

/**
 * Deletes the usage plans that {@link createOwnPlan} made for a key of this name and that no key is on: what is left of
 * a key that is gone or moved, and of commands that were cut off. One that an admin made by hand has another name.
 */
export async function deleteEmptyOwnPlans(
  { gateway: client, apiStage }: Target,
  usagePlans: readonly CustomerPlan[],
  keyName: string,
): Promise<void> {
  const name = ownPlanName(usagePlans, keyName);
  const found: UsagePlan[] = [];
  for await (const { items = [] } of paginateGetUsagePlans({ client, pageSize: PAGE_SIZE }, {})) {
    found.push(...items.filter((plan) => plan.name === name));
  }
  for (const { id: usagePlanId, apiStages = [] } of found) {
    const { items: keys = [] } = await client.send(new GetUsagePlanKeysCommand({ usagePlanId, limit: 1 }));
    if (keys.length > 0) continue;
    // API Gateway deletes no plan that is still of a stage. A cut right after this leaves one of none.
    const value = `${apiStage.apiId}:${apiStage.stage}`;
    const patchOperations = [{ op: 'remove' as const, path: '/apiStages', value }];
    if (apiStages.length > 0) await client.send(new UpdateUsagePlanCommand({ usagePlanId, patchOperations }));
    await client.send(new DeleteUsagePlanCommand({ usagePlanId }));
  }
}

function limitTags({ perMinute, perDay }: Limits): Record<string, string> {
  return { [gatewayTags.perMinute]: String(perMinute), [gatewayTags.perDay]: String(perDay) };
}
