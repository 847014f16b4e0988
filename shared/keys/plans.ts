/** Requests a key may make per UTC clock minute and per UTC day. */
export interface Limits {
  readonly perMinute: number;
  readonly perDay: number;
}

export interface Plan {
  readonly title: string;
  /** `agreed`: every key on the plan has its own limits, agreed with its customer. */
  readonly limits: Limits | 'agreed';
}

/** The plan catalogue. Everything that depends on a plan or its limits is derived from it. */
export const plans = {
  free: { title: 'Free', limits: { perMinute: 60, perDay: 1_000 } },
  pro: { title: 'Pro', limits: { perMinute: 300, perDay: 10_000 } },
  business: { title: 'Business', limits: { perMinute: 1_000, perDay: 100_000 } },
  enterprise: { title: 'Enterprise', limits: 'agreed' },
} as const satisfies Record<string, Plan>;

/** The most that may be agreed for a key: each request is a write on its item, which takes some 1,000 a second. */
export const MAX_PER_MINUTE = 48_000;
export const MAX_PER_DAY = 1_440 * MAX_PER_MINUTE;

export type PlanId = keyof typeof plans;

export const planIds = Object.keys(plans).filter((id): id is PlanId => id in plans);

/** What an API Gateway usage plan enforces: a token bucket (requests a second, bucket size) and a daily quota. */
export interface UsagePlanLimits {
  readonly rateLimit: number;
  readonly burstLimit: number;
  readonly quotaPerDay: number;
}

/**
 * The usage plan settings that never refuse what the exact limiter admits. A bucket of two minutes' worth covers the
 * end of one window and the start of the next back to back, and a refill of at least perMinute / 60 a second keeps up.
 * A request that is counted before midnight may be metered after it, which a minute's worth on top of the day's covers.
 */
export function usagePlanLimits({ perMinute, perDay }: Limits): UsagePlanLimits {
  return { rateLimit: Math.ceil(perMinute / 60), burstLimit: 2 * perMinute, quotaPerDay: perDay + perMinute };
}
