import * as v from 'valibot';
import { findApiKey } from './api-keys.ts';
import {
  badRequest,
  type Call,
  conflict,
  notFound,
  type Operation,
  pageOf,
  pagingParameters,
  parseBody,
} from './call.ts';
import type { GatewayRecords } from './gateway-records.ts';
import { type ApiKey, stageOf, type UsagePlan } from './records.ts';

/** The longest interval that one call asks about, in days. */
const MAX_DAYS = 90;
const DAY_MS = 86_400_000;

const createBodySchema = v.strictObject({ keyId: v.string(), keyType: v.literal('API_KEY') });

const path = '/usageplans/:usageplanId';
const usageParameters = [...pagingParameters, 'startDate', 'endDate', 'keyId'];

/** The usage plans of the template, which only a deploy changes, the keys on them, and what these have used. */
export const usagePlanOperations: readonly Operation[] = [
  { name: 'GetUsagePlans', route: 'GET /usageplans', query: [...pagingParameters, 'keyId'], run: getUsagePlans },
  { name: 'GetUsagePlan', route: `GET ${path}`, run: (records, call) => usagePlanBody(findPlan(records, call)) },
  { name: 'GetUsage', route: `GET ${path}/usage`, query: usageParameters, run: getUsage },
  { name: 'CreateUsagePlanKey', route: `POST ${path}/keys`, run: createUsagePlanKey },
  { name: 'GetUsagePlanKeys', route: `GET ${path}/keys`, query: pagingParameters, run: getUsagePlanKeys },
  { name: 'DeleteUsagePlanKey', route: `DELETE ${path}/keys/:keyId`, run: deleteUsagePlanKey },
];

/** The usage plan that the path of a call names. @throws ControlPlaneError where there is none with the id */
function findPlan(records: GatewayRecords, { parameter }: Call): UsagePlan {
  const plan = records.plans.get(parameter('usageplanId'));
  if (!plan) throw notFound('Invalid Usage Plan ID specified');
  return plan;
}

function getUsagePlans(records: GatewayRecords, { query }: Call): unknown {
  const keyId = query.get('keyId');
  const { items, position } = pageOf(keyId === null ? records.usagePlans : records.plansOfKey(keyId), query);
  return { item: items.map(usagePlanBody), position };
}

/** A plan as the API gives it. */
function usagePlanBody({ quota, tags, ...plan }: UsagePlan): unknown {
  return {
    ...plan,
    ...(quota && { quota: { limit: quota.limit, offset: 0, period: 'DAY' } }),
    ...(Object.keys(tags).length > 0 && { tags }),
  };
}

function createUsagePlanKey(records: GatewayRecords, call: Call): unknown {
  const plan = findPlan(records, call);
  const apiKey = findApiKey(records, parseBody(createBodySchema, call.body).keyId);
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

function getUsagePlanKeys(records: GatewayRecords, call: Call): unknown {
  const { items, position } = pageOf(records.keysOnPlan(findPlan(records, call).id), call.query);
  return { item: items.map(planKeyBody), position };
}

function deleteUsagePlanKey(records: GatewayRecords, call: Call): void {
  const plan = findPlan(records, call);
  const keyId = call.parameter('keyId');
  if (!records.isOnPlan(plan.id, keyId)) throw notFound('Invalid Usage Plan Key identifier specified');
  records.removeFromPlan(plan.id, keyId);
}

/** A key on a plan as the API gives it, always with its value. */
function planKeyBody({ id, value, name }: ApiKey): unknown {
  return { id, type: 'API_KEY', value, name };
}

function getUsage(records: GatewayRecords, call: Call): unknown {
  const plan = findPlan(records, call);
  const [startDate, endDate] = [dateParameter(call.query, 'startDate'), dateParameter(call.query, 'endDate')];
  if (endDate < startDate) throw badRequest('endDate must not be before startDate');
  const days = (Date.parse(endDate) - Date.parse(startDate)) / DAY_MS + 1;
  if (days > MAX_DAYS) throw badRequest(`startDate and endDate must be at most ${MAX_DAYS} days apart`);

  const dates = Array.from({ length: days }, (_, day) => dateOf(Date.parse(startDate) + day * DAY_MS));
  const keyId = call.query.get('keyId');
  const apiKeys = records.keysOnPlan(plan.id).filter(({ id }) => keyId === null || id === keyId);
  const { items, position } = pageOf(apiKeys, call.query);
  const values = items.map(({ id }) => [id, dates.map((date) => usageOn(records, plan, id, date))]);
  return { usagePlanId: plan.id, startDate, endDate, values: Object.fromEntries(values), position };
}

/**
 * What was used on the day, and what was left of the quota at its end. AWS does not document what is left without a
 * quota; here it is 0.
 */
function usageOn(records: GatewayRecords, plan: UsagePlan, keyId: string, date: string): [used: number, left: number] {
  const used = records.requestsOn(date, plan.id, keyId);
  return [used, Math.max(0, (plan.quota?.limit ?? 0) - used)];
}

const dateOf = (epochMs: number): string => new Date(epochMs).toISOString().slice(0, 10);

function dateParameter(query: URLSearchParams, name: string): string {
  const text = query.get(name) ?? '';
  const epochMs = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(text) : Number.NaN;
  // The parser takes February 30th for a day in March.
  if (Number.isNaN(epochMs) || dateOf(epochMs) !== text) {
    throw badRequest(`${name} must be a date such as 2026-01-31, not '${text}'`);
  }
  return text;
}
