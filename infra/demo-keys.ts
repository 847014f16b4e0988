import { createHash } from 'node:crypto';
import { tokenFrom } from '../shared/keys/token.ts';
import { type Limits, type PlanId, plans } from '../shared/keys/plans.ts';

/** What the demo customer of the Enterprise plan has agreed. */
const ENTERPRISE_DEMO_LIMITS: Limits = { perMinute: 60_000, perDay: 10_000_000 };

/**
 * The demo key of a plan: the same on every machine, so that an example in the docs works as it stands, and no file
 * has to hold a key. It opens nothing but local hosts.
 */
export function demoKey(plan: PlanId): string {
  const digest = createHash('sha256').update(`demo key of the ${plan} plan`).digest('hex');
  return tokenFrom(`Demo${plan}`.padEnd(40, digest));
}

/** A demo key per plan. */
export const demoKeys: Readonly<Record<PlanId, string>> = {
  free: demoKey('free'),
  pro: demoKey('pro'),
  business: demoKey('business'),
  enterprise: demoKey('enterprise'),
};

export function limitsOfDemoKey(plan: PlanId): Limits {
  const { limits } = plans[plan];
  return limits === 'agreed' ? ENTERPRISE_DEMO_LIMITS : limits;
}
