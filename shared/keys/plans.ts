/** Max requests of a key per UTC minute and per UTC day. */
export interface ExactLimits {
  readonly perMinute: number;
  readonly perDay: number;
}

export interface Plan {
  readonly title: string;
  /** `agreed`: each key on the plan has individual limits, agreed with its customer. */
  readonly limits: ExactLimits | 'agreed';
}

/** The catalog of plans. Everything that depends on a plan or its limits is derived from it. */
export const plans = {
  free: { title: 'Free', limits: { perMinute: 60, perDay: 1_000 } },
  pro: { title: 'Pro', limits: { perMinute: 300, perDay: 10_000 } },
  business: { title: 'Business', limits: { perMinute: 1_000, perDay: 100_000 } },
  enterprise: { title: 'Enterprise', limits: 'agreed' },
} as const satisfies Record<string, Plan>;

/** Max limits of a key: each request writes its item, which supports about 1,000 writes per second. */
export const MAX_PER_MINUTE = 48_000;
export const MAX_PER_DAY = 1_440 * MAX_PER_MINUTE;

export type PlanId = keyof typeof plans;

export const planIds = Object.keys(plans).filter((id): id is PlanId => id in plans);

/**
 * Limits of an API Gateway usage plan (a token bucket: requests per second, bucket size; and a daily quota) that never
 * refuse what the exact limiter admits. A bucket of two minutes' quota covers the
 * end of one window and the start of the next, and a refill of at least perMinute / 60 per second keeps up.
 * The daily quota has an additional minute's quota, as a request counted before midnight may be metered after it.
 * Batch updates have a throttle of their own, which does refuse admitted ones (infra/stack/usage-plans.ts).
 */
export function usagePlanLimits({ perMinute, perDay }: ExactLimits) {
  return { rateLimit: Math.ceil(perMinute / 60), burstLimit: 2 * perMinute, quotaPerDay: perDay + perMinute };
}
