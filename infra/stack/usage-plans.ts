import { hash } from 'node:crypto';
import { Names, Stack, Tags } from 'aws-cdk-lib';
import { ApiKey, type Method, Period, type Stage, UsagePlan, type UsagePlanProps } from 'aws-cdk-lib/aws-apigateway';
import { Construct } from 'constructs';
import { INTERNAL_PLAN, gatewayTags } from '../../shared/key-registry/gateway-tags.ts';
import { type ExactLimits, usagePlanLimits, planIds, plans } from '../../shared/keys/plans.ts';
import type { StageSettings } from '../stages.ts';
import { inSequence } from './construct-tree.ts';

/** Throttle per key for batch updates (`PATCH /inventory`): no key may use all writes of the stock's partition. */
export const batchThrottle = { rateLimit: 5, burstLimit: 5 } as const;

/** The same for the one key of an internal plan, which stands for many customers: each batch occupies a function. */
export const internalBatchThrottles = {
  Overflow: { rateLimit: 100, burstLimit: 10 },
  Interim: { rateLimit: 100, burstLimit: 100 },
} as const;

export interface UsagePlansProps extends Pick<StageSettings, 'throttle'> {
  readonly stage: Stage;
  /** The method of batch updates, with a throttle per key. */
  readonly batchMethod: Method;
}

/** Overflow meters refused requests, Interim those of new or moved keys until API Gateway knows of the change. */
type InternalPlan = keyof typeof internalBatchThrottles;

/**
 * One usage plan per plan of the catalog, and the internal ones. Overflow is one bucket for all keys: if it were
 * narrower than the stage, a key that floods it would prevent exact responses to all others.
 */
export class UsagePlans extends Construct {
  constructor(scope: Construct, id: string, props: UsagePlansProps) {
    super(scope, id);
    const { stage, batchMethod: method, throttle } = props;
    // The max rate of a key with its own limits.
    const asWideAsStage = { throttle: { rateLimit: throttle.requestsPerSecond, burstLimit: throttle.burst } };
    const ofBatches = (each: NonNullable<UsagePlanProps['throttle']>) => ({
      apiStages: [{ stage, throttle: [{ method, throttle: each }] }],
    });
    const customerPlans = planIds.map((planId) => {
      const { title, limits } = plans[planId];
      const guard = limits === 'agreed' ? asWideAsStage : guardOf(limits);
      return this.#addPlan(title, planId, { ...ofBatches(batchThrottle), ...guard });
    });
    const internalPlans = (['Overflow', 'Interim'] as const).map((title) => {
      const guard = title === 'Overflow' ? asWideAsStage : {};
      const plan = this.#addPlan(title, INTERNAL_PLAN, { ...ofBatches(internalBatchThrottles[title]), ...guard });
      plan.addApiKey(
        new ApiKey(this, `${title}Key`, {
          value: internalIdentifier(Stack.of(this), title),
          description: `Meters requests on the ${title} plan. It grants no access: no request is authenticated by it.`,
        }),
      );
      return plan;
    });
    // API Gateway allows few concurrent changes of plans, and adds one key to a plan at a time.
    inSequence([...customerPlans, ...internalPlans]);
  }

  #addPlan(title: string, tag: string, settings: UsagePlanProps): UsagePlan {
    const plan = new UsagePlan(this, title, { name: `${Stack.of(this).stackName} ${title}`, ...settings });
    Tags.of(plan).add(gatewayTags.plan, tag);
    return plan;
  }
}

/** The key of an internal plan: 64 hex digits, fixed per stack. Not secret: the authorizer denies such tokens. */
export function internalIdentifier(stack: Stack, plan: InternalPlan): string {
  return hash('sha256', `${Names.uniqueResourceName(stack, {})} ${plan.toLowerCase()}`);
}

function guardOf(limits: ExactLimits): UsagePlanProps {
  const { rateLimit, burstLimit, quotaPerDay } = usagePlanLimits(limits);
  return { throttle: { rateLimit, burstLimit }, quota: { limit: quotaPerDay, period: Period.DAY } };
}
