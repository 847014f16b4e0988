import { type APIGatewayClient, paginateGetUsagePlans, type UsagePlan } from '@aws-sdk/client-api-gateway';
import { type Limits, outerGuard, type PlanId, planIds, plans } from '../keys/plans.ts';
import { type ApiStage, PAGE_SIZE } from './gateway-client.ts';
import { gatewayTags } from './gateway-tags.ts';

/** Value of the tag `plan` on usage plans that no customer is on. */
export const INTERNAL_PLAN = 'internal';

/** A usage plan of the stage that customers are on. */
export interface CustomerPlan {
  readonly usagePlanId: string;
  readonly name: string;
  readonly plan: PlanId;
  /** `agreed`: each key on it has its own, in its tags. */
  readonly limits: Limits | 'agreed';
  /** Requests a second that it lets through of each key; undefined: as many as come. */
  readonly rateLimit?: number | undefined;
}

export interface CustomerPlans {
  readonly plans: readonly CustomerPlan[];
  /** Ids of the usage plans of the stage that are none of this service: their keys are only closed. */
  readonly unreadable: readonly string[];
  /** What is wrong with usage plans of the stage, in words for an admin. */
  readonly problems: readonly string[];
}

type Tags = Readonly<Record<string, string>> | undefined;

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
  const found: CustomerPlan[] = [];
  const unreadable: string[] = [];
  const problems: string[] = [];
  for await (const { items = [] } of paginateGetUsagePlans({ client, pageSize: PAGE_SIZE }, query)) {
    for (const usagePlan of items) {
      const { plan, problem } = readUsagePlan(usagePlan, stage);
      if (plan) found.push(plan);
      else if (problem !== undefined) unreadable.push(usagePlan.id ?? '');
      if (problem !== undefined) problems.push(`The usage plan ${usagePlan.name ?? usagePlan.id ?? ''} ${problem}.`);
    }
  }
  return { plans: found, unreadable, problems };
}

/** Whether the stage is on a usage plan. */
function isOfStage({ apiStages = [] }: UsagePlan, { apiId, stage }: ApiStage): boolean {
  return apiStages.some((apiStage) => apiStage.apiId === apiId && apiStage.stage === stage);
}

function readUsagePlan(usagePlan: UsagePlan, stage: ApiStage): { plan?: CustomerPlan; problem?: string } {
  const { id: usagePlanId = '', name = '', tags = {} } = usagePlan;
  const tag = tags[gatewayTags.plan];
  if (!isOfStage(usagePlan, stage) || tag === INTERNAL_PLAN) return {};

  const plan = planIds.find((id) => id === tag);
  if (!plan)
    return { problem: `is none of this service: tag it with ${gatewayTags.plan}, one of ${planIds.join(', ')}` };
  const { limits } = plans[plan];
  const problem = guardProblem(usagePlan, limits);
  const { rateLimit } = usagePlan.throttle ?? {};
  return { plan: { usagePlanId, name, plan, limits, rateLimit }, ...(problem !== undefined && { problem }) };
}

/** The limits in the tags of a key, where there are any; and what is wrong with them. */
export function agreedLimits(tags: Tags): { limits?: Limits; problem?: string } {
  const texts = [tags?.[gatewayTags.perMinute], tags?.[gatewayTags.perDay]];
  if (texts.every((text) => text === undefined)) return {};
  const [perMinute, perDay] = texts.map((text) => (/^[1-9]\d{0,11}$/.test(text ?? '') ? Number(text) : undefined));
  if (perMinute !== undefined && perDay !== undefined) return { limits: { perMinute, perDay } };
  return { problem: `needs both tags ${gatewayTags.perMinute} and ${gatewayTags.perDay}, as numbers from 1` };
}

/** The usage plan must never refuse what the exact limits admit. */
function guardProblem({ throttle, quota, apiStages = [] }: UsagePlan, limits: Limits | 'agreed'): string | undefined {
  const throttlesMethods = apiStages.some(({ throttle: ofMethods = {} }) => Object.keys(ofMethods).length > 0);
  if (throttlesMethods) return 'throttles single methods, which may refuse what its limits allow';
  if (limits === 'agreed') return quota && 'has a quota, which may refuse what the limits of its keys allow';
  const needed = outerGuard(limits);
  const tooSlow =
    throttle && ((throttle.rateLimit ?? 0) < needed.rateLimit || (throttle.burstLimit ?? 0) < needed.burstLimit);
  const tooFew = quota && (quota.period !== 'DAY' || (quota.limit ?? 0) < needed.quotaPerDay);
  if (!tooSlow && !tooFew) return undefined;
  const { rateLimit, burstLimit, quotaPerDay } = needed;
  return `allows less than its limits: it needs a rate of ${rateLimit}, a burst of ${burstLimit}, a quota of ${quotaPerDay} a DAY`;
}
