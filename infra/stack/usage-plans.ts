import { createHash } from 'node:crypto';
import { Names, Stack } from 'aws-cdk-lib';
import { ApiKey, Period, type Stage, UsagePlan, type UsagePlanProps } from 'aws-cdk-lib/aws-apigateway';
import { Construct } from 'constructs';
import { type Limits, outerGuard, planIds, plans } from '../../shared/keys/plans.ts';

/** Refused requests a second, of all keys together, that still reach a function for their exact answer. */
const OVERFLOW_RATE = 100;

export interface UsagePlansProps {
  readonly stage: Stage;
}

/** One usage plan per plan of the catalogue, and the overflow plan that refused requests are metered on. */
export class UsagePlans extends Construct {
  constructor(scope: Construct, id: string, { stage }: UsagePlansProps) {
    super(scope, id);
    for (const planId of planIds) {
      const { title, limits } = plans[planId];
      this.#addPlan(title, stage, limits === 'agreed' ? {} : guardSettings(limits));
    }
    const overflow = this.#addPlan('Overflow', stage, {
      throttle: { rateLimit: OVERFLOW_RATE, burstLimit: 2 * OVERFLOW_RATE },
    });
    overflow.addApiKey(
      new ApiKey(this, 'OverflowKey', {
        value: overflowIdentifier(Stack.of(this)),
        description: 'Meters refused requests. It opens nothing: no request is authenticated by it.',
      }),
    );
  }

  #addPlan(title: string, stage: Stage, settings: Pick<UsagePlanProps, 'throttle' | 'quota'>): UsagePlan {
    const name = `${Stack.of(this).stackName} ${title}`;
    return new UsagePlan(this, title, { name, apiStages: [{ stage }], ...settings });
  }
}

/**
 * The key value of the overflow plan: 64 hex digits, fixed per stack. Not a secret: the authorizer takes 64 hex digits
 * for a stored hash, never for a key.
 */
export function overflowIdentifier(stack: Stack): string {
  return createHash('sha256')
    .update(`${Names.uniqueResourceName(stack, {})} overflow`)
    .digest('hex');
}

function guardSettings(limits: Limits): Pick<UsagePlanProps, 'throttle' | 'quota'> {
  const { rateLimit, burstLimit, quotaPerDay } = outerGuard(limits);
  return { throttle: { rateLimit, burstLimit }, quota: { limit: quotaPerDay, period: Period.DAY } };
}
