import { isoDay } from '../../../shared/keys/verdict.ts';
import type { ApiStage, GatewayRecords } from '../control-plane/gateway-records.ts';
import { GatewayError } from './gateway-responses.ts';

export type Meter = ReturnType<typeof usageMeter>;

/**
 * Meters the requests to one stage by the usage plans: finds the key, checks throttle and quota, and returns its id.
 * Throws a GatewayError INVALID_API_KEY, THROTTLED or QUOTA_EXCEEDED.
 */
export function usageMeter(records: GatewayRecords, stage: ApiStage) {
  // By plan and key. Not saved: buckets refill soon, and the exact limit refuses before the quota.
  const buckets = new Map<string, { day: string; requests: number; tokens: number; refilledAt: number }>();
  return (usageIdentifierKey: string | undefined, now: number): string => {
    const key = usageIdentifierKey === undefined ? undefined : records.apiKeyWithValue(usageIdentifierKey);
    const plan = key?.enabled ? records.planOnStage(key.id, stage) : undefined;
    if (!key || !plan) throw new GatewayError('INVALID_API_KEY', 'Forbidden');

    const name = `${plan.id}/${key.id}`;
    const day = isoDay(now);
    const { limit = Infinity } = plan.quota ?? {};
    const { rateLimit = 0, burstLimit = Infinity } = plan.throttle ?? {};
    const bucket = buckets.get(name) ?? { day, requests: 0, tokens: burstLimit, refilledAt: now };
    buckets.set(name, bucket);
    if (bucket.day !== day) Object.assign(bucket, { day, requests: 0 });
    if (bucket.requests >= limit) throw new GatewayError('QUOTA_EXCEEDED', 'Limit Exceeded');

    // Requests are metered after the authorizer, so not in their order of arrival.
    const seconds = Math.max(0, now - bucket.refilledAt) / 1_000;
    bucket.tokens = Math.min(burstLimit, bucket.tokens + seconds * rateLimit);
    bucket.refilledAt = Math.max(bucket.refilledAt, now);
    if (bucket.tokens < 1) throw new GatewayError('THROTTLED', 'Too Many Requests');
    bucket.tokens -= 1;
    bucket.requests += 1;
    return key.id;
  };
}
