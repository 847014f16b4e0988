import { isoDay } from '../../../shared/keys/window.ts';
import type { ApiStage, GatewayRecords, UsagePlan } from '../control-plane/gateway-records.ts';
import { GatewayError } from './gateway-responses.ts';

/** The remaining tokens of a key on a plan. */
interface Bucket {
  tokens: number;
  /** Unix milliseconds of the last refill. */
  refilledAt: number;
}

/** Meters the requests to one stage by the usage plans: finds the key, and checks throttle and quota. */
export class UsageMeter {
  readonly #records: GatewayRecords;
  readonly #stage: ApiStage;
  /** By plan and key. Not saved: buckets refill soon. */
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

    const date = isoDay(now);
    if (plan.quota && this.#records.requestsOn(date, plan.id, key.id) >= plan.quota.limit) {
      throw new GatewayError('QUOTA_EXCEEDED', 'Limit Exceeded');
    }
    if (plan.throttle && !this.#takeToken(`${plan.id}/${key.id}`, plan.throttle, now)) {
      throw new GatewayError('THROTTLED', 'Too Many Requests');
    }
    this.#records.countRequest(date, plan.id, key.id);
    return key.id;
  }

  #takeToken(name: string, { rateLimit, burstLimit }: NonNullable<UsagePlan['throttle']>, now: number): boolean {
    const bucket = this.#buckets.get(name) ?? { tokens: burstLimit, refilledAt: 0 };
    this.#buckets.set(name, bucket);
    // Requests are metered after the authorizer, so not in their order of arrival.
    const seconds = Math.max(0, now - bucket.refilledAt) / 1_000;
    bucket.tokens = Math.min(burstLimit, bucket.tokens + seconds * rateLimit);
    bucket.refilledAt = Math.max(bucket.refilledAt, now);
    if (bucket.tokens < 1) return false;
    bucket.tokens -= 1;
    return true;
  }
}
