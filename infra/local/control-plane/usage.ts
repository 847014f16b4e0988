import { type Day, parseDate } from '../gateway-records/daily-usage.ts';
import type { ApiKey, UsagePlan } from '../gateway-records/records.ts';
import { type Call, type Gateway, type Operation, pageOf, pagingParameters } from './call.ts';
import { badRequest } from './control-plane-error.ts';
import { findPlan } from './usage-plans.ts';

/** The longest interval that one call asks about, in days. */
const MAX_DAYS = 90;

export const usageOperations: readonly Operation[] = [
  {
    name: 'GetUsage',
    method: 'GET',
    path: '/usageplans/{usageplanId}/usage',
    query: [...pagingParameters, 'startDate', 'endDate', 'keyId'],
    status: 200,
    run: getUsage,
  },
];

function getUsage(gateway: Gateway, call: Call): unknown {
  const { query } = call;
  const plan = findPlan(gateway, call);
  const first = dayParameter(query, 'startDate');
  const last = dayParameter(query, 'endDate');
  if (last < first) throw badRequest('endDate must not be before startDate');
  if (last - first >= MAX_DAYS) throw badRequest(`startDate and endDate must be at most ${MAX_DAYS} days apart`);

  const keyId = query.get('keyId');
  const apiKeys = gateway.records.keysOnPlan(plan.id).filter(({ id }) => keyId === null || id === keyId);
  const { items, position } = pageOf(apiKeys, query);
  const days = Array.from({ length: last - first + 1 }, (_, index) => first + index);
  const values = items.map((apiKey) => [apiKey.id, days.map((day) => usageOn(gateway, plan, apiKey, day))]);
  return {
    usagePlanId: plan.id,
    startDate: query.get('startDate'),
    endDate: query.get('endDate'),
    values: Object.fromEntries(values),
    position,
  };
}

/**
 * What was used on the day, and what was left of the quota at its end. Without a quota nothing is documented; the
 * answer then says that nothing is left, for want of a number that means no bound.
 */
function usageOn({ records }: Gateway, plan: UsagePlan, apiKey: ApiKey, day: Day): [used: number, remaining: number] {
  const used = records.usage(plan.id, apiKey.id).on(day);
  return [used, plan.quota ? Math.max(0, plan.quota.limit - used) : 0];
}

function dayParameter(query: URLSearchParams, name: string): Day {
  const text = query.get(name) ?? '';
  const day = parseDate(text);
  if (day === undefined) throw badRequest(`${name} must be a date such as 2026-01-31, not '${text}'`);
  return day;
}
