import type { ApiKey } from '../gateway-records/api-key.ts';
import { type Day, parseDate } from '../gateway-records/day.ts';
import type { UsagePlan } from '../gateway-records/usage-plan.ts';
import { badRequest } from './control-plane-error.ts';
import { type Call, type Gateway, type Operation, parameter } from './operation.ts';
import { pageOf, pagingParameters } from './paging.ts';
import type { Query } from './query.ts';
import { findUsagePlan } from './usage-plans.ts';

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
  const plan = findUsagePlan(gateway, parameter(call, 'usageplanId'));
  const first = dayParameter(query, 'startDate');
  const last = dayParameter(query, 'endDate');
  if (last < first) throw badRequest('endDate must not be before startDate');
  if (last - first >= MAX_DAYS) throw badRequest(`startDate and endDate must be at most ${MAX_DAYS} days apart`);

  const keyId = query.text('keyId');
  const keys = gateway.records.keysOnPlan(plan.id).filter(({ id }) => keyId === undefined || id === keyId);
  const { items, position } = pageOf(keys, query);
  const days = Array.from({ length: last - first + 1 }, (_, index) => first + index);
  const values = Object.fromEntries(items.map((key) => [key.id, days.map((day) => usageOn(gateway, plan, key, day))]));
  return {
    usagePlanId: plan.id,
    startDate: query.text('startDate'),
    endDate: query.text('endDate'),
    values,
    position,
  };
}

/**
 * What was used on the day, and what was left of the quota at its end. Without a quota nothing is documented; the
 * answer then says that nothing is left, for want of a number that means no bound.
 */
function usageOn({ records }: Gateway, plan: UsagePlan, key: ApiKey, day: Day): [used: number, remaining: number] {
  const used = records.usage(plan.id, key.id).on(day);
  return [used, plan.quota ? Math.max(0, plan.quota.limit - used) : 0];
}

function dayParameter(query: Query, name: string): Day {
  const text = query.text(name);
  if (text === undefined) throw badRequest(`${name} is required`);
  const day = parseDate(text);
  if (day === undefined) throw badRequest(`${name} must be a date such as 2026-01-31, not '${text}'`);
  return day;
}
