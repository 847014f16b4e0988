import * as v from 'valibot';
import { findApiKey } from './api-keys.ts';
import { badRequest, type Call, conflict, notFound, type Operations, pageOf, parseBody } from './call.ts';
import { USAGE_DAYS } from './gateway-records.ts';
import { type ApiKey, stageOf, type UsagePlan } from './records.ts';

const DAY_MS = 86_400_000;

const createBodySchema = v.strictObject({ keyId: v.string(), keyType: v.literal('API_KEY') });

const path = '/usageplans/:usageplanId';

/** The usage plans of the template, which only a deploy changes, the keys on them, and what these have used. */
export const usagePlanOperations: Operations = {
  'GET /usageplans': (call) => {
    const { records, query } = call;
    const keyId = query.get('keyId');
    const { items, position } = pageOf(keyId === null ? records.usagePlans : records.plansOfKey(keyId), call);
    return { item: items.map(usagePlanBody), position };
  },
  [`GET ${path}`]: (call) => usagePlanBody(planOf(call)),
  [`GET ${path}/usage`]: getUsage,
  [`POST ${path}/keys`]: createUsagePlanKey,
  [`GET ${path}/keys`]: (call) => {
    const { items, position } = pageOf(call.records.keysOnPlan(planOf(call).id), call);
    return { item: items.map(planKeyBody), position };
  },
  [`DELETE ${path}/keys/:keyId`]: (call) => {
    const { id } = planOf(call);
    const keyId = call.parameter('keyId');
    if (!call.records.isOnPlan(id, keyId)) throw notFound('Invalid Usage Plan Key identifier specified');
    call.records.removeFromPlan(id, keyId);
  },
};

/** The usage plan that the path of a call names. @throws ControlPlaneError where there is none with the id */
function planOf({ records, parameter }: Call): UsagePlan {
  const plan = records.plans.get(parameter('usageplanId'));
  if (!plan) throw notFound('Invalid Usage Plan ID specified');
  return plan;
}

/** A plan as the API gives it. */
function usagePlanBody({ quota, tags, ...plan }: UsagePlan): unknown {
  return {
    ...plan,
    ...(quota && { quota: { limit: quota.limit, offset: 0, period: 'DAY' } }),
    ...(Object.keys(tags).length > 0 && { tags }),
  };
}

/** A key on a plan as the API gives it, always with its value. */
const planKeyBody = ({ id, value, name }: ApiKey): unknown => ({ id, type: 'API_KEY', value, name });

function createUsagePlanKey(call: Call): unknown {
  const { records } = call;
  const plan = planOf(call);
  const apiKey = findApiKey(records, parseBody(createBodySchema, call).keyId);
  for (const other of records.plansOfKey(apiKey.id)) {
    if (other.id === plan.id) throw conflict(`API Key ${apiKey.id} is on Usage Plan ${plan.id} already`);
    const shared = plan.apiStages.find((stage) => stageOf(other, stage));
    if (!shared) continue;
    throw conflict(
      `Usage Plan ${plan.id} cannot be added because API Key ${apiKey.id} cannot reference multiple Usage Plans with ` +
        `the same API stage: ${shared.apiId}:${shared.stage}`,
    );
  }
  records.putOnPlan(plan.id, apiKey.id);
  return planKeyBody(apiKey);
}

/** What keys used on each day, and what was left of the quota at its end: 0 without one, which AWS does not document. */
function getUsage(call: Call): unknown {
  const { records, query } = call;
  const { id, quota } = planOf(call);
  const [startDate, endDate] = [dateOf(query, 'startDate'), dateOf(query, 'endDate')];
  const days = (Date.parse(endDate) - Date.parse(startDate)) / DAY_MS + 1;
  if (days < 1) throw badRequest('endDate must not be before startDate');
  if (days > USAGE_DAYS) throw badRequest(`startDate and endDate must be at most ${USAGE_DAYS} days apart`);
  const dates = Array.from({ length: days }, (_, day) => isoDate(Date.parse(startDate) + day * DAY_MS));
  const wanted = query.get('keyId');
  const apiKeys = records.keysOnPlan(id).filter((apiKey) => wanted === null || apiKey.id === wanted);
  const { items, position } = pageOf(apiKeys, call);
  const usageOf = (keyId: string, date: string): [used: number, left: number] => {
    const used = records.requestsOn(date, id, keyId);
    return [used, Math.max(0, (quota?.limit ?? 0) - used)];
  };
  const values = items.map((apiKey) => [apiKey.id, dates.map((date) => usageOf(apiKey.id, date))]);
  return { usagePlanId: id, startDate, endDate, values: Object.fromEntries(values), position };
}

const isoDate = (epochMs: number): string => new Date(epochMs).toISOString().slice(0, 10);

function dateOf(query: URLSearchParams, name: string): string {
  const text = query.get(name) ?? '';
  const epochMs = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(text) : Number.NaN;
  // The parser takes February 30th for a day in March.
  if (!Number.isNaN(epochMs) && isoDate(epochMs) === text) return text;
  throw badRequest(`${name} must be a date such as 2026-01-31, not '${text}'`);
}
