import { type APIGatewayClient, paginateGetUsagePlans, type UsagePlan } from '@aws-sdk/client-api-gateway';
import { type Limits, type PlanId, planIds, plans } from '../keys/plans.ts';
import { outerGuard } from './outer-guard.ts';
import { type ApiStage, PAGE_SIZE } from './gateway-client.ts';
import { gatewayTags } from './gateway-tags.ts';

/** Value of the tag `plan` on usage plans that no customer is on. */
export const INTERNAL_PLAN = 'internal';

/** A usage plan of the stage that customers are on. */
export interface CustomerPlan {
  readonly usagePlanId: string;
  readonly plan: PlanId;
  /** `agreed`: each key on it has its own, in its tags. */
  readonly limits: Limits | 'agreed';
  /** Requests a second that it admits of each key; undefined: any number. */
  readonly rateLimit?: number | undefined;
}

export interface CustomerPlans {
  readonly plans: CustomerPlan[];
  /** Ids of usage plans of the stage whose tag `plan` is wrong: a sync may only close their keys. */
  readonly unreadable: string[];
  /** What is wrong with usage plans of the stage, in words for an admin. */
  readonly problems: string[];
}

/**
 * The usage plans of the stage that customers are on: one for each plan of the catalogue.
 *
 * @param query of a key: those that it is on, which is one at most
 */
export async function customerPlans(
  client: APIGatewayClient,
  stage: ApiStage,
  query: { readonly keyId?: string } = {},
): Promise<CustomerPlans> {
  const found: CustomerPlans = { plans: [], unreadable: [], problems: [] };
  for await (const { items = [] } of paginateGetUsagePlans({ client, pageSize: PAGE_SIZE }, query)) {
    for (const usagePlan of items.filter((each) => isForCustomers(each, stage))) {
      const { id: usagePlanId = '', name = usagePlanId, tags, throttle } = usagePlan;
      const plan = planIds.find((each) => each === tags?.[gatewayTags.plan]);
      if (plan) found.plans.push({ usagePlanId, plan, limits: plans[plan].limits, rateLimit: throttle?.rateLimit });
      else found.unreadable.push(usagePlanId);
      const problem = plan ? guardProblem(usagePlan, plans[plan].limits) : WRONG_TAG;
      if (problem !== undefined) found.problems.push(`The usage plan ${name} ${problem}.`);
    }
  }
  return found;
}

const WRONG_TAG = `is none of this service: tag it with ${gatewayTags.plan}, one of ${planIds.join(', ')}`;

const isForCustomers = ({ apiStages = [], tags }: UsagePlan, { apiId, stage }: ApiStage): boolean =>
  tags?.[gatewayTags.plan] !== INTERNAL_PLAN &&
  apiStages.some((apiStage) => apiStage.apiId === apiId && apiStage.stage === stage);

/** The usage plan must never refuse what the exact limits admit. */
function guardProblem({ throttle, quota }: UsagePlan, limits: Limits | 'agreed'): string | undefined {
  if (limits === 'agreed') return quota && 'has a quota, which may refuse what the limits of its keys allow';
  const { rateLimit, burstLimit, quotaPerDay } = outerGuard(limits);
  const { rateLimit: rate = 0, burstLimit: burst = 0 } = throttle ?? {};
  const isTooSlow = throttle && (rate < rateLimit || burst < burstLimit);
  const hasTooFew = quota && (quota.period !== 'DAY' || (quota.limit ?? 0) < quotaPerDay);
  if (!isTooSlow && !hasTooFew) return undefined;
  return `allows less than its limits: it needs a rate of ${rateLimit}, a burst of ${burstLimit}, a quota of ${quotaPerDay} a DAY`;
}
