import { HostError } from '../host-error.ts';
import type { LocalStack } from '../template/stack.ts';
import { GatewayError } from './gateway-error.ts';

/** Settings of a usage plan: a token bucket per key (requests a second, bucket size) and a quota a UTC day. */
export interface UsagePlan {
  readonly id: string;
  readonly name: string;
  readonly throttle: { readonly rateLimit: number; readonly burstLimit: number } | undefined;
  readonly quotaPerDay: number | undefined;
}

/** A key of the gateway: what a request is metered as. */
export interface GatewayKey {
  readonly id: string;
  readonly value: string;
  readonly enabled: boolean;
}

interface Meter {
  readonly key: GatewayKey;
  readonly plan: UsagePlan;
  tokens: number;
  /** Unix milliseconds at which `tokens` was right. */
  refilledAt: number;
  day: number;
  usedToday: number;
}

const DAY_MS = 86_400_000;

/** The usage plans of a stage: which key is on which plan, and what each key has used. */
export class UsagePlans {
  readonly #plans: readonly UsagePlan[];
  readonly #meters = new Map<string, Meter>();

  constructor(stack: LocalStack) {
    this.#plans = stack.resources('AWS::ApiGateway::UsagePlan').map(({ ref, properties }) => ({
      id: ref,
      name: properties.UsagePlanName,
      throttle: properties.Throttle && {
        rateLimit: properties.Throttle.RateLimit,
        burstLimit: properties.Throttle.BurstLimit,
      },
      quotaPerDay: properties.Quota?.Limit,
    }));
    const keys = stack.resources('AWS::ApiGateway::ApiKey');
    for (const { logicalId, properties } of stack.resources('AWS::ApiGateway::UsagePlanKey')) {
      const key = keys.find(({ ref }) => ref === properties.KeyId);
      if (!key) throw new HostError(`Resource ${logicalId}: the template has no API key ${properties.KeyId}`);
      const isKnown = this.#plans.some(({ id }) => id === properties.UsagePlanId);
      if (!isKnown)
        throw new HostError(`Resource ${logicalId}: the template has no usage plan ${properties.UsagePlanId}`);
      this.addKey(
        { id: key.ref, value: key.properties.Value, enabled: key.properties.Enabled },
        properties.UsagePlanId,
      );
    }
  }

  /** The plan whose name ends in a title of the plan catalogue. */
  planTitled(title: string): UsagePlan | undefined {
    return this.#plans.find(({ name }) => name.endsWith(` ${title}`));
  }

  addKey(key: GatewayKey, planId: string): void {
    const plan = this.#plans.find(({ id }) => id === planId);
    if (!plan) throw new Error(`There is no usage plan ${planId}`);
    const tokens = plan.throttle?.burstLimit ?? 0;
    this.#meters.set(key.value, { key, plan, tokens, refilledAt: 0, day: 0, usedToday: 0 });
  }

  /**
   * Meters one request.
   *
   * @param now Unix milliseconds
   * @returns the id of the key
   * @throws GatewayError INVALID_API_KEY, THROTTLED or QUOTA_EXCEEDED
   */
  meter(usageIdentifierKey: string | undefined, now: number): string {
    const meter = usageIdentifierKey === undefined ? undefined : this.#meters.get(usageIdentifierKey);
    if (!meter?.key.enabled) throw new GatewayError('INVALID_API_KEY', 'Forbidden');
    const { plan } = meter;

    const day = Math.floor(now / DAY_MS);
    if (day > meter.day) Object.assign(meter, { day, usedToday: 0 });
    if (plan.quotaPerDay !== undefined && meter.usedToday >= plan.quotaPerDay) {
      throw new GatewayError('QUOTA_EXCEEDED', 'Limit Exceeded');
    }
    if (plan.throttle && !takeToken(meter, plan.throttle, now)) {
      throw new GatewayError('THROTTLED', 'Too Many Requests');
    }
    meter.usedToday += 1;
    return meter.key.id;
  }
}

function takeToken(meter: Meter, { rateLimit, burstLimit }: NonNullable<UsagePlan['throttle']>, now: number): boolean {
  const seconds = Math.max(0, now - meter.refilledAt) / 1_000;
  meter.tokens = Math.min(burstLimit, meter.tokens + seconds * rateLimit);
  meter.refilledAt = Math.max(meter.refilledAt, now);
  if (meter.tokens < 1) return false;
  meter.tokens -= 1;
  return true;
}
