import * as v from 'valibot';
import type { ApiKey, UsagePlan } from './records.ts';
import { findApiKey, withNamePrefix } from './api-keys.ts';
import {
  badRequest,
  type Call,
  conflict,
  type Gateway,
  notFound,
  type Operation,
  pageOf,
  pagingParameters,
  parseBody,
} from './call.ts';
import { checkOnlyPlanOfStage, findPlan } from './usage-plans.ts';

/** The longest interval that one call asks about, in days. */
const MAX_DAYS = 90;
const DAY_MS = 86_400_000;

const createBodySchema = v.strictObject({ keyId: v.string(), keyType: v.literal('API_KEY') });

const keys = '/usageplans/:usageplanId/keys';
const usage = '/usageplans/:usageplanId/usage';
const usageParameters = [...pagingParameters, 'startDate', 'endDate', 'keyId'];

/** The keys on a usage plan, and what they have used. */
export const usagePlanKeyOperations: readonly Operation[] = [
  { name: 'CreateUsagePlanKey', route: `POST ${keys}`, run: createUsagePlanKey },
  { name: 'GetUsagePlanKeys', route: `GET ${keys}`, query: [...pagingParameters, 'name'], run: getUsagePlanKeys },
  { name: 'GetUsagePlanKey', route: `GET ${keys}/:keyId`, run: getUsagePlanKey },
  { name: 'DeleteUsagePlanKey', route: `DELETE ${keys}/:keyId`, run: deleteUsagePlanKey },
  { name: 'GetUsage', route: `GET ${usage}`, query: usageParameters, run: getUsage },
];

function createUsagePlanKey(gateway: Gateway, call: Call): unknown {
  const plan = findPlan(gateway, call);
  const apiKey = findApiKey(gateway, parseBody(createBodySchema, call.body).keyId);
  if (gateway.records.isOnPlan(plan.id, apiKey.id)) {
    throw conflict(`API Key ${apiKey.id} is on Usage Plan ${plan.id} already`);
  }
  checkOnlyPlanOfStage(gateway, plan, apiKey.id);
  gateway.records.putOnPlan(plan.id, apiKey.id);
  return planKeyBody(apiKey);
}

function getUsagePlanKeys(gateway: Gateway, call: Call): unknown {
  const apiKeys = gateway.records.keysOnPlan(findPlan(gateway, call).id);
  const { items, position } = pageOf(withNamePrefix(apiKeys, call.query), call.query);
  return { item: items.map(planKeyBody), position };
}

function getUsagePlanKey(gateway: Gateway, call: Call): unknown {
  return planKeyBody(findKeyOnPlan(gateway, call));
}

function deleteUsagePlanKey(gateway: Gateway, call: Call): void {
  const { id } = findKeyOnPlan(gateway, call);
  gateway.records.removeFromPlan(call.parameter('usageplanId'), id);
}

function findKeyOnPlan(gateway: Gateway, call: Call): ApiKey {
  const plan = findPlan(gateway, call);
  const apiKey = gateway.records.apiKey(call.parameter('keyId'));
  if (!apiKey || !gateway.records.isOnPlan(plan.id, apiKey.id)) {
    throw notFound('Invalid Usage Plan Key identifier specified');
  }
  return apiKey;
}

/** A key on a plan as the API gives it, always with its value. */
function planKeyBody({ id, value, name }: ApiKey): unknown {
  return { id, type: 'API_KEY', value, name };
}

function getUsage(gateway: Gateway, call: Call): unknown {
  const plan = findPlan(gateway, call);
  const [startDate, endDate] = [dateParameter(call.query, 'startDate'), dateParameter(call.query, 'endDate')];
  if (endDate < startDate) throw badRequest('endDate must not be before startDate');
  const days = (Date.parse(endDate) - Date.parse(startDate)) / DAY_MS + 1;
  if (days > MAX_DAYS) throw badRequest(`startDate and endDate must be at most ${MAX_DAYS} days apart`);

  const dates = Array.from({ length: days }, (_, day) => dateOf(Date.parse(startDate) + day * DAY_MS));
  const keyId = call.query.get('keyId');
  const apiKeys = gateway.records.keysOnPlan(plan.id).filter(({ id }) => keyId === null || id === keyId);
  const { items, position } = pageOf(apiKeys, call.query);
  const values = items.map(({ id }) => [id, dates.map((date) => usageOn(gateway, plan, id, date))]);
  return { usagePlanId: plan.id, startDate, endDate, values: Object.fromEntries(values), position };
}

/**
 * What was used on the day, and what was left of the quota at its end. AWS does not document what is
 * left without a quota; here it is 0.
 */
function usageOn({ records }: Gateway, plan: UsagePlan, keyId: string, date: string): [used: number, left: number] {
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
