import { createHash } from 'node:crypto';
import { Names, Stack, Tags } from 'aws-cdk-lib';
import { ApiKey, type Method, Period, type Stage, UsagePlan, type UsagePlanProps } from 'aws-cdk-lib/aws-apigateway';
import { Construct } from 'constructs';
import { INTERNAL_PLAN } from '../../shared/key-registry/customer-plan.ts';
import { gatewayTags } from '../../shared/key-registry/gateway-tags.ts';
import { type Limits, usagePlanLimits, planIds, plans } from '../../shared/keys/plans.ts';
import type { ThrottleSettings } from '../stages.ts';

/**
 * What a usage plan lets each key send of bulks (`PATCH /inventory`): requests a second, and bucket size. All stock is
 * one partition of DynamoDB, and no key may take all of what bulks may write.
 */
export const batchThrottle = { rateLimit: 5, burstLimit: 5 } as const;

/**
 * Refused bulks, of all keys together, that reach their function for an exact answer: requests a second, and bucket
 * size. The function is reserved to few at once, so more of them would keep out the bulks that are admitted.
 */
export const overflowBatchThrottle = { rateLimit: 100, burstLimit: 10 } as const;

export interface UsagePlansProps {
  readonly stage: Stage;
  /** Of a method of the stage: a key with limits of its own may send as many requests as that. */
  readonly throttle: ThrottleSettings;
  /** The method that takes bulks, of which each key has its share. */
  readonly batchMethod: Method;
}

/**
 * Plans that no customer is on. Overflow meters refused requests. Interim meters the requests of keys that were just
 * issued or moved, until API Gateway knows the change everywhere.
 */
type InternalPlan = 'Overflow' | 'Interim';

/**
 * One usage plan per plan of the catalog, and the internal ones. Overflow is one bucket for all keys: were it
 * narrower than the stage, a key that floods it would take the exact answers from all others.
 */
export class UsagePlans extends Construct {
  #previous: UsagePlan | undefined;

  constructor(scope: Construct, id: string, props: UsagePlansProps) {
    super(scope, id);
    const { throttle } = props;
    const asWideAsStage = { throttle: { rateLimit: throttle.requestsPerSecond, burstLimit: throttle.burst } };
    for (const planId of planIds) {
      const { title, limits } = plans[planId];
      this.#addPlan(title, planId, props, limits === 'agreed' ? asWideAsStage : guardOf(limits));
    }
    this.#addInternalPlan('Overflow', props, asWideAsStage);
    this.#addInternalPlan('Interim', props, {});
  }

  #addInternalPlan(title: InternalPlan, props: UsagePlansProps, settings: UsagePlanProps): void {
    const plan = this.#addPlan(title, INTERNAL_PLAN, props, settings);
    plan.addApiKey(
      new ApiKey(this, `${title}Key`, {
        value: internalIdentifier(Stack.of(this), title),
        description: `Meters requests on the ${title} plan. It opens nothing: no request is authenticated by it.`,
      }),
    );
  }

  #addPlan(title: string, tag: string, { stage, batchMethod }: UsagePlansProps, settings: UsagePlanProps): UsagePlan {
    const name = `${Stack.of(this).stackName} ${title}`;
    const throttle = [{ method: batchMethod, throttle: title === 'Overflow' ? overflowBatchThrottle : batchThrottle }];
    const plan = new UsagePlan(this, title, { name, apiStages: [{ stage, throttle }], ...settings });
    Tags.of(plan).add(gatewayTags.plan, tag);
    // API Gateway takes few changes of plans at a time, and puts one key on a plan at a time.
    if (this.#previous) plan.node.addDependency(this.#previous);
    this.#previous = plan;
    return plan;
  }
}

/**
 * The key value of an internal plan: 64 hex digits, fixed per stack. Not a secret: the authorizer refuses 64 hex digits
 * as a token.
 */
export function internalIdentifier(stack: Stack, plan: InternalPlan): string {
  return createHash('sha256')
    .update(`${Names.uniqueResourceName(stack, {})} ${plan.toLowerCase()}`)
    .digest('hex');
}

function guardOf(limits: Limits): UsagePlanProps {
  const { rateLimit, burstLimit, quotaPerDay } = usagePlanLimits(limits);
  return { throttle: { rateLimit, burstLimit }, quota: { limit: quotaPerDay, period: Period.DAY } };
}
