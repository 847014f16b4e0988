import { isoDay } from '../../../shared/keys/verdict.ts';
import type { ApiStage, GatewayRecords, UsagePlan } from '../control-plane/gateway-records.ts';
import { GatewayError } from './gateway-responses.ts';

/** The remaining tokens of a key on a plan, and its requests of a day. */
interface Bucket {
  day: string;
  requests: number;
  tokens: number;
  /** Unix milliseconds of the last refill. */
  refilledAt: number;
}

/** Meters the requests to one stage by the usage plans: finds the key, and checks throttle and quota. */
export class UsageMeter {
  readonly #records: GatewayRecords;
  readonly #stage: ApiStage;
  /** By plan and key. Not saved: buckets refill soon, and the exact limit refuses before the quota. */
  readonly #buckets = new Map<string, Bucket>();

  constructor(records: GatewayRecords, stage: ApiStage) {
    this.#records = records;
    this.#stage = stage;
  }

  /**
   * Meters one request.
   *
   * @param usageIdentifierKey the value of a key
   * @param now Unix milliseconds
   * @returns the id of the key
   * @throws GatewayError INVALID_API_KEY, THROTTLED or QUOTA_EXCEEDED
   */
  meter(usageIdentifierKey: string | undefined, now: number): string {
    const key = usageIdentifierKey === undefined ? undefined : this.#records.apiKeyWithValue(usageIdentifierKey);
    const plan = key?.enabled ? this.#records.planOnStage(key.id, this.#stage) : undefined;
    if (!key || !plan) throw new GatewayError('INVALID_API_KEY', 'Forbidden');

    this.#count(`${plan.id}/${key.id}`, plan, now);
    return key.id;
  }

  #count(name: string, { throttle, quota }: UsagePlan, now: number): void {
    const day = isoDay(now);
    const bucket = this.#buckets.get(name) ?? { day, requests: 0, tokens: throttle?.burstLimit ?? 0, refilledAt: 0 };
    this.#buckets.set(name, bucket);
    if (bucket.day !== day) Object.assign(bucket, { day, requests: 0 });
    if (quota && bucket.requests >= quota.limit) throw new GatewayError('QUOTA_EXCEEDED', 'Limit Exceeded');
    if (throttle && !takeToken(bucket, throttle, now)) throw new GatewayError('THROTTLED', 'Too Many Requests');
    bucket.requests += 1;
  }
}

function takeToken(
  bucket: Bucket,
  { rateLimit, burstLimit }: NonNullable<UsagePlan['throttle']>,
  now: number,
): boolean {
  // Requests are metered after the authorizer, so not in their order of arrival.
  const seconds = Math.max(0, now - bucket.refilledAt) / 1_000;
  bucket.tokens = Math.min(burstLimit, bucket.tokens + seconds * rateLimit);
  bucket.refilledAt = Math.max(bucket.refilledAt, now);
  if (bucket.tokens < 1) return false;
  bucket.tokens -= 1;
  return true;
}
