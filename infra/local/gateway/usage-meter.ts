import type { DailyUsage } from '../gateway-records/daily-usage.ts';
import type { GatewayRecords } from '../gateway-records/gateway-records.ts';
import { dayOf } from '../gateway-records/daily-usage.ts';
import type { ApiStage, Throttle } from '../gateway-records/records.ts';
import { GatewayError } from './gateway-error.ts';

/** The tokens that a key has left on a plan. */
interface Bucket {
  tokens: number;
  /** Unix milliseconds at which `tokens` was right. */
  refilledAt: number;
}

/** Meters the requests to one stage by the usage plans: whose key it is, whether there is room for it. */
export class UsageMeter {
  readonly #records: GatewayRecords;
  readonly #stage: ApiStage;
  /** Of a key on a plan, gone with its usage. Not kept on disk: a bucket is full again soon. */
  readonly #buckets = new WeakMap<DailyUsage, Bucket>();

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

    const usage = this.#records.usage(plan.id, key.id);
    const day = Math.max(dayOf(now), usage.latestDay);
    if (plan.quota && usage.on(day) >= plan.quota.limit) {
      throw new GatewayError('QUOTA_EXCEEDED', 'Limit Exceeded');
    }
    if (plan.throttle && !this.#takeToken(usage, plan.throttle, now)) {
      throw new GatewayError('THROTTLED', 'Too Many Requests');
    }
    this.#records.countRequest(plan.id, key.id, day);
    return key.id;
  }

  #takeToken(usage: DailyUsage, { rateLimit, burstLimit }: Throttle, now: number): boolean {
    const bucket = this.#buckets.get(usage) ?? { tokens: burstLimit, refilledAt: 0 };
    this.#buckets.set(usage, bucket);
    const seconds = Math.max(0, now - bucket.refilledAt) / 1_000;
    bucket.tokens = Math.min(burstLimit, bucket.tokens + seconds * rateLimit);
    bucket.refilledAt = Math.max(bucket.refilledAt, now);
    if (bucket.tokens < 1) return false;
    bucket.tokens -= 1;
    return true;
  }
}
