import type { ThrottleSettings } from '@aws-sdk/client-api-gateway';
import type { GatewayRecords } from '../control-plane/gateway-records.ts';
import { GatewayError } from './gateway-responses.ts';

/**
 * Meters requests by the usage plans: a key's throttle of the method, such as `/inventory/PATCH`, and that of all
 * methods. The exact limit refuses before the quota. @returns its id. @throws GatewayError INVALID_API_KEY or THROTTLED
 */
export function usageMeter(records: GatewayRecords) {
  // By plan and key. Not saved: buckets refill soon.
  const buckets = new Map<string, { readonly tokens: number; readonly refilledAt: number }>();

  const takeToken = (name: string, now: number, { rateLimit = 0, burstLimit = Infinity }: ThrottleSettings): void => {
    const { tokens, refilledAt } = buckets.get(name) ?? { tokens: burstLimit, refilledAt: now };
    // Requests are metered after the authorizer, so not in their order of arrival.
    const seconds = Math.max(0, now - refilledAt) / 1_000;
    const refilled = Math.min(burstLimit, tokens + seconds * rateLimit);
    if (refilled < 1) throw new GatewayError('THROTTLED', 'Too Many Requests');
    buckets.set(name, { tokens: refilled - 1, refilledAt: Math.max(refilledAt, now) });
  };

  return (usageIdentifierKey: string | undefined, method: string, now: number): string => {
    const key = usageIdentifierKey === undefined ? undefined : records.apiKeyWithValue(usageIdentifierKey);
    const [plan] = key?.enabled ? records.plansOfKey(key.id) : [];
    if (!key || !plan) throw new GatewayError('INVALID_API_KEY', 'Forbidden');

    const name = `${plan.id}/${key.id}`;
    const [{ throttle: ofMethods = {} } = {}] = plan.apiStages ?? [];
    takeToken(`${name} ${method}`, now, ofMethods[method] ?? {});
    takeToken(name, now, plan.throttle ?? {});
    return key.id;
  };
}
