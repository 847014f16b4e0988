import type { Limits } from '../../shared/keys/plans.ts';

/** What an API Gateway usage plan enforces: a token bucket (requests a second, bucket size) and a daily quota. */
export interface OuterGuard {
  readonly rateLimit: number;
  readonly burstLimit: number;
  readonly quotaPerDay: number;
}

/**
 * The usage plan settings that never refuse what the exact limiter admits. A bucket of two minutes' worth covers the
 * end of one window and the start of the next back to back, and a refill of at least perMinute / 60 a second keeps up.
 * A request that is counted before midnight may be metered after it, which a minute's worth on top of the day's covers.
 */
export function outerGuard({ perMinute, perDay }: Limits): OuterGuard {
  return { rateLimit: Math.ceil(perMinute / 60), burstLimit: 2 * perMinute, quotaPerDay: perDay + perMinute };
}
