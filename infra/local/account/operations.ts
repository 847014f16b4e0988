import { randomInt } from 'node:crypto';
import * as v from 'valibot';
import { account } from '../../local-endpoint.ts';
import { badRequest, type Call, conflict, notFound, type Operations, pageOf, parseBody } from './call.ts';
import { type GatewayRecords, USAGE_DAYS } from './gateway-records.ts';
import { type ApiKey, stageOf, tagsSchema, type UsagePlan } from './records.ts';

const VALUE_ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const DAY_MS = 86_400_000;

const text = v.string();
const newKeySchema = v.strictObject({
  name: v.optional(text),
  description: v.optional(text),
  enabled: v.optional(v.boolean(), false),
  value: v.optional(v.pipe(text, v.minLength(20), v.maxLength(128))),
  tags: v.optional(tagsSchema, {}),
});
/** The changes that the host knows, by operation and path. */
const patchSchema = v.variant('path', [
  v.object({ op: v.literal('replace'), path: v.picklist(['/name', '/description']), value: v.optional(text, '') }),
  v.object({ op: v.literal('replace'), path: v.literal('/enabled'), value: v.picklist(['true', 'false']) }),
]);
const patchesSchema = v.strictObject({ patchOperations: v.array(patchSchema) });
const newTagsSchema = v.strictObject({ tags: tagsSchema });
const newPlanKeySchema = v.strictObject({ keyId: text, keyType: v.literal('API_KEY') });

/** Clients send the slashes of an ARN encoded; people who type one may not. */
const tags = '/tags/:resourceArn{.+}';
const plan = '/usageplans/:usageplanId';

/** API keys and their tags; the usage plans of the template, which only a deploy changes, the keys on them, their usage. */
export const operations: Operations = {
  'POST /apikeys': createApiKey,
  'GET /apikeys': (call) => {
    const prefix = call.query.get('name') ?? '';
    const named = call.records.apiKeys.filter(({ name = '' }) => name.startsWith(prefix));
    return pageOf(named, call, (key) => apiKeyBody(key, call.query.get('includeValues') === 'true'));
  },
  'GET /apikeys/:apiKey': (call) => apiKeyBody(keyOf(call), call.query.get('includeValue') === 'true'),
  'PATCH /apikeys/:apiKey': updateApiKey,
  'DELETE /apikeys/:apiKey': (call) => call.records.deleteApiKey(keyOf(call).id),
  [`GET ${tags}`]: (call) => ({ tags: taggedKey(call).tags }),
  [`PUT ${tags}`]: (call) => {
    const apiKey = taggedKey(call);
    call.records.putApiKey({ ...apiKey, tags: { ...apiKey.tags, ...parseBody(newTagsSchema, call).tags } });
  },
  [`DELETE ${tags}`]: (call) => {
    const apiKey = taggedKey(call);
    const names = call.query.getAll('tagKeys');
    const rest = Object.entries(apiKey.tags).filter(([name]) => !names.includes(name));
    call.records.putApiKey({ ...apiKey, tags: Object.fromEntries(rest) });
  },
  'GET /usageplans': (call) => {
    const keyId = call.query.get('keyId');
    const { records } = call;
    return pageOf(keyId === null ? records.usagePlans : records.plansOfKey(keyId), call, usagePlanBody);
  },
  [`GET ${plan}`]: (call) => usagePlanBody(planOf(call)),
  [`GET ${plan}/usage`]: getUsage,
  [`POST ${plan}/keys`]: createUsagePlanKey,
  [`GET ${plan}/keys`]: (call) => pageOf(call.records.keysOnPlan(planOf(call).id), call, planKeyBody),
  [`DELETE ${plan}/keys/:keyId`]: (call) => {
    const { id } = planOf(call);
    const keyId = call.parameter('keyId');
    if (!call.records.isOnPlan(id, keyId)) throw notFound('Invalid Usage Plan Key identifier specified');
    call.records.removeFromPlan(id, keyId);
  },
};

function findApiKey(records: GatewayRecords, id: string): ApiKey {
  const apiKey = records.apiKey(id);
  if (!apiKey) throw notFound('Invalid API Key identifier specified');
  return apiKey;
}

const keyOf = ({ records, parameter }: Call): ApiKey => findApiKey(records, parameter('apiKey'));

/** The key that an ARN names: `arn:aws:apigateway:us-east-1::/apikeys/ID`. */
function taggedKey({ records, parameter }: Call): ApiKey {
  const arn = parameter('resourceArn');
  const prefix = `arn:${account.partition}:apigateway:${account.region}::/apikeys/`;
  const apiKey = arn.startsWith(prefix) ? records.apiKey(arn.slice(prefix.length)) : undefined;
  if (!apiKey) throw notFound(`Invalid Resource identifier specified: ${arn}`);
  return apiKey;
}

function planOf({ records, parameter }: Call): UsagePlan {
  const found = records.plans.get(parameter('usageplanId'));
  if (!found) throw notFound('Invalid Usage Plan ID specified');
  return found;
}

function createApiKey(call: Call): unknown {
  const { records } = call;
  const { value = newValue(), ...settings } = parseBody(newKeySchema, call);
  if (records.apiKeyWithValue(value)) throw conflict('API Key already exists');
  const apiKey: ApiKey = { id: records.newId(), value, ...settings, createdAt: Date.now() };
  records.putApiKey(apiKey);
  return apiKeyBody(apiKey, true);
}

const newValue = (): string =>
  Array.from({ length: 40 }, () => VALUE_ALPHABET.charAt(randomInt(VALUE_ALPHABET.length))).join('');

function updateApiKey(call: Call): unknown {
  const patches = parseBody(patchesSchema, call).patchOperations.map(({ path, value }) =>
    path === '/enabled' ? { enabled: value === 'true' } : { [path.slice(1)]: value },
  );
  const patched: ApiKey = Object.assign({ ...keyOf(call) }, ...patches);
  call.records.putApiKey(patched);
  return apiKeyBody(patched, false);
}

const unlessEmpty = (tagsOfIt: object) => Object.keys(tagsOfIt).length > 0 && { tags: tagsOfIt };

/** A key as the API gives it. */
const apiKeyBody = ({ value, createdAt, tags: own, ...apiKey }: ApiKey, includeValue: boolean): unknown => ({
  ...apiKey,
  ...(includeValue && { value }),
  createdDate: Math.floor(createdAt / 1_000),
  ...unlessEmpty(own),
});

/** A plan as the API gives it. */
const usagePlanBody = ({ quota, tags: own, ...rest }: UsagePlan): unknown => ({
  ...rest,
  ...(quota && { quota: { limit: quota.limit, offset: 0, period: 'DAY' } }),
  ...unlessEmpty(own),
});

/** A key on a plan as the API gives it, always with its value. */
const planKeyBody = ({ id, value, name }: ApiKey): unknown => ({ id, type: 'API_KEY', value, name });

function createUsagePlanKey(call: Call): unknown {
  const { records } = call;
  const { id, apiStages } = planOf(call);
  const apiKey = findApiKey(records, parseBody(newPlanKeySchema, call).keyId);
  for (const other of records.plansOfKey(apiKey.id)) {
    if (other.id === id) throw conflict(`API Key ${apiKey.id} is on Usage Plan ${id} already`);
    const shared = apiStages.find((stage) => stageOf(other, stage));
    if (!shared) continue;
    throw conflict(
      `Usage Plan ${id} cannot be added because API Key ${apiKey.id} cannot reference multiple Usage Plans with ` +
        `the same API stage: ${shared.apiId}:${shared.stage}`,
    );
  }
  records.putOnPlan(id, apiKey.id);
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
  const usageOf = (keyId: string, date: string): [used: number, left: number] => {
    const used = records.requestsOn(date, id, keyId);
    return [used, Math.max(0, (quota?.limit ?? 0) - used)];
  };
  const { item, position } = pageOf(
    apiKeys,
    call,
    (key) => [key.id, dates.map((date) => usageOf(key.id, date))] as const,
  );
  return { usagePlanId: id, startDate, endDate, values: Object.fromEntries(item), position };
}

const isoDate = (epochMs: number): string => new Date(epochMs).toISOString().slice(0, 10);

function dateOf(query: URLSearchParams, name: string): string {
  const date = query.get(name) ?? '';
  const epochMs = /^\d{4}-\d{2}-\d{2}$/.test(date) ? Date.parse(date) : Number.NaN;
  // The parser takes February 30th for a day in March.
  if (!Number.isNaN(epochMs) && isoDate(epochMs) === date) return date;
  throw badRequest(`${name} must be a date such as 2026-01-31, not '${date}'`);
}
