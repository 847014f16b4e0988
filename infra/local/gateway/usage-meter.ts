import type { ThrottleSettings } from '@aws-sdk/client-api-gateway';
import { isoDay } from '../../../shared/keys/verdict.ts';
import type { ApiStage, GatewayRecords } from '../control-plane/gateway-records.ts';
import { GatewayError } from './gateway-responses.ts';

/** The remaining tokens of a key on a plan, and its requests of a day. */
interface Bucket {
  day: string;
  requests: number;
  tokens: number;
  /** Unix milliseconds of the last refill. */
  refilledAt: number;
}

export type Meter = ReturnType<typeof usageMeter>;

/**
 * Meters the requests to one stage by the usage plans: finds the key, checks throttle and quota, and returns its id.
 * Throws a GatewayError INVALID_API_KEY, THROTTLED or QUOTA_EXCEEDED.
 */
export function usageMeter(records: GatewayRecords, stage: ApiStage) {
  /** By plan and key. Not saved: buckets refill soon, and the exact limit refuses before the quota. */
  const buckets = new Map<string, Bucket>();
  return (usageIdentifierKey: string | undefined, now: number): string => {
    const key = usageIdentifierKey === undefined ? undefined : records.apiKeyWithValue(usageIdentifierKey);
    const plan = key?.enabled ? records.planOnStage(key.id, stage) : undefined;
    if (!key || !plan) throw new GatewayError('INVALID_API_KEY', 'Forbidden');

    const name = `${plan.id}/${key.id}`;
    const day = isoDay(now);
    const fresh = { day, requests: 0, tokens: plan.throttle?.burstLimit ?? 0, refilledAt: 0 };
    const bucket = buckets.get(name) ?? fresh;
    buckets.set(name, bucket);
    if (bucket.day !== day) Object.assign(bucket, { day, requests: 0 });
    const { limit = Infinity } = plan.quota ?? {};
    if (bucket.requests >= limit) throw new GatewayError('QUOTA_EXCEEDED', 'Limit Exceeded');
    if (plan.throttle && !takeToken(bucket, plan.throttle, now))
      throw new GatewayError('THROTTLED', 'Too Many Requests');
    bucket.requests += 1;
    return key.id;
  };
}

function takeToken(bucket: Bucket, { rateLimit = 0, burstLimit = 0 }: ThrottleSettings, now: number): boolean {
  // Requests are metered after the authorizer, so not in their order of arrival.
  const seconds = Math.max(0, now - bucket.refilledAt) / 1_000;
  bucket.tokens = Math.min(burstLimit, bucket.tokens + seconds * rateLimit);
  bucket.refilledAt = Math.max(bucket.refilledAt, now);
  if (bucket.tokens < 1) return false;
  bucket.tokens -= 1;
  return true;
}
