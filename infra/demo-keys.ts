import { createHash } from 'node:crypto';
import { tokenFrom } from '../shared/keys/token.ts';
import { type ExactLimits, MAX_PER_MINUTE, type PlanId, planIds, plans } from '../shared/keys/plans.ts';

/** The agreed limits of the demo customer on the Enterprise plan. */
const ENTERPRISE_DEMO_LIMITS: ExactLimits = { perMinute: MAX_PER_MINUTE, perDay: 10_000_000 };

/** The demo key of a plan on local servers: the same on every machine, for examples, and in no file. */
export function demoKey(plan: PlanId): string {
  const digest = createHash('sha256').update(`demo key of the ${plan} plan`).digest('hex');
  return tokenFrom(`Demo${plan}`.padEnd(40, digest));
}

/** The demo key of each plan. */
export const demoKeys: Readonly<Record<string, string>> = Object.fromEntries(
  planIds.map((plan) => [plan, demoKey(plan)]),
);

export function limitsOfDemoKey(plan: PlanId): ExactLimits {
  const { limits } = plans[plan];
  return limits === 'agreed' ? ENTERPRISE_DEMO_LIMITS : limits;
}
