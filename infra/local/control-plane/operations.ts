import { randomBytes } from 'node:crypto';
import * as v from 'valibot';
import { DAY_MS, isoDay } from '../../../shared/keys/window.ts';
import { account } from '../../local-endpoint.ts';
import { type ApiKey, type GatewayRecords, tagsSchema, USAGE_DAYS, type UsagePlan } from './gateway-records.ts';

/** Max entries per page of a list. */
const MAX_PAGE = 500;

/** A call of one of the {@link operations}. */
interface Call {
  readonly records: GatewayRecords;
  /** Id of the key or usage plan; for tags: the ARN of the key. */
  readonly id: string;
  /** Id of a key on a usage plan. */
  readonly memberId: string;
  readonly query: URLSearchParams;
  /** JSON text; empty without a body. */
  readonly body: string;
}

/** A rejected call; nothing was changed. */
export class ControlPlaneError extends Error {
  override readonly name = 'ControlPlaneError';
  readonly status: number;
  readonly type: string;

  constructor(status: number, type: string, message: string) {
    super(message);
    this.status = status;
    this.type = type;
  }
}

export const badRequest = (message: string) => new ControlPlaneError(400, 'BadRequestException', message);
const conflict = (message: string) => new ControlPlaneError(409, 'ConflictException', message);
const notFound = (message: string) => new ControlPlaneError(404, 'NotFoundException', message);

const text = v.string();
const newKeySchema = v.strictObject({
  name: v.optional(text),
  description: v.optional(text),
  enabled: v.optional(v.boolean(), false),
  value: v.optional(v.pipe(text, v.minLength(20), v.maxLength(128))),
  tags: v.optional(tagsSchema, {}),
});
/** The supported changes, by operation and path. */
const patchSchema = v.variant('path', [
  v.object({ op: v.literal('replace'), path: v.picklist(['/name', '/description']), value: v.optional(text, '') }),
  v.object({ op: v.literal('replace'), path: v.literal('/enabled'), value: v.picklist(['true', 'false']) }),
]);
const patchesSchema = v.strictObject({ patchOperations: v.array(patchSchema) });
const newTagsSchema = v.strictObject({ tags: tagsSchema });
const newPlanKeySchema = v.strictObject({ keyId: text, keyType: v.literal('API_KEY') });

/**
 * The operations of API Gateway's API that the admin command, the sync of keys and the guides use, by their routes.
 * Each changes the records in memory atomically, and returns the body of the response. Only deployments change
 * usage plans.
 */
export const operations: Readonly<Record<string, (call: Call) => unknown>> = {
  'POST /apikeys': createApiKey,
  'GET /apikeys': (call) => {
    const withValues = call.query.get('includeValues') === 'true';
    const prefix = call.query.get('name') ?? '';
    const named = call.records.apiKeys.filter(({ name = '' }) => name.startsWith(prefix));
    return pageOf(named, call, (key) => apiKeyBody(key, withValues));
  },
  'GET /apikeys/{id}': (call) => apiKeyBody(apiKeyOf(call), call.query.get('includeValue') === 'true'),
  'PATCH /apikeys/{id}': updateApiKey,
  'DELETE /apikeys/{id}': (call) => call.records.deleteApiKey(apiKeyOf(call).id),
  'PUT /tags/{id}': (call) => {
    const apiKey = taggedKey(call);
    call.records.putApiKey({ ...apiKey, tags: { ...apiKey.tags, ...parseBody(newTagsSchema, call).tags } });
  },
  'DELETE /tags/{id}': (call) => {
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
  'GET /usageplans/{id}/usage': getUsage,
  'POST /usageplans/{id}/keys': createUsagePlanKey,
  'GET /usageplans/{id}/keys': (call) => pageOf(call.records.keysOnPlan(planOf(call).id), call, planKeyBody),
  'GET /usageplans/{id}/keys/{memberId}': (call) => planKeyBody(planKeyOf(call)),
  'DELETE /usageplans/{id}/keys/{memberId}': (call) => call.records.removeFromPlan(call.id, planKeyOf(call).id),
};

/** Parses the body of a call. @throws ControlPlaneError naming the invalid or unknown member */
function parseBody<Schema extends v.GenericSchema>(schema: Schema, { body }: Call): v.InferOutput<Schema> {
  const result = v.safeParse(v.pipe(v.string(), v.parseJson(), schema), body || '{}');
  if (result.success) return result.output;
  const [issue] = result.issues;
  throw badRequest(`${v.getDotPath(issue) ?? 'The request body'}: ${issue.message}`);
}

/**
 * The requested page of a list, in the order of the ids. A position is the previous id, so pages stay
 * correct after additions and deletions.
 */
function pageOf<Item extends { readonly id: string }, Body>(
  items: readonly Item[],
  { query }: Call,
  bodyOf: (item: Item) => Body,
): { readonly item: Body[]; readonly position: string | undefined } {
  const limit = Number(query.get('limit') ?? 25);
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_PAGE) {
    throw badRequest(`limit must be a number from 1 to ${MAX_PAGE}`);
  }
  const after = query.get('position') ?? '';
  const rest = items.filter(({ id }) => id > after).toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const page = rest.slice(0, limit);
  return { item: page.map(bodyOf), position: rest.length > limit ? page.at(-1)?.id : undefined };
}

function findApiKey(records: GatewayRecords, id: string): ApiKey {
  const apiKey = records.apiKey(id);
  if (!apiKey) throw notFound('Invalid API Key identifier specified');
  return apiKey;
}

const apiKeyOf = ({ records, id }: Call): ApiKey => findApiKey(records, id);

/** The key of an ARN: `arn:aws:apigateway:us-east-1::/apikeys/ID`. */
function taggedKey({ records, id: arn }: Call): ApiKey {
  const prefix = `arn:${account.partition}:apigateway:${account.region}::/apikeys/`;
  const apiKey = arn.startsWith(prefix) ? records.apiKey(arn.slice(prefix.length)) : undefined;
  if (!apiKey) throw notFound(`Invalid Resource identifier specified: ${arn}`);
  return apiKey;
}

function planOf({ records, id }: Call): UsagePlan {
  const found = records.plans.get(id);
  if (!found) throw notFound('Invalid Usage Plan ID specified');
  return found;
}

function planKeyOf(call: Call): ApiKey {
  const { id } = planOf(call);
  const apiKey = call.records.isOnPlan(id, call.memberId) ? call.records.apiKey(call.memberId) : undefined;
  if (!apiKey) throw notFound('Invalid Usage Plan Key identifier specified');
  return apiKey;
}

function createApiKey(call: Call): unknown {
  const { records } = call;
  const { value = randomBytes(20).toString('hex'), ...settings } = parseBody(newKeySchema, call);
  if (records.apiKeyWithValue(value)) throw conflict('API Key already exists');
  const apiKey: ApiKey = { id: records.newId(), value, ...settings, createdAt: Date.now() };
  records.putApiKey(apiKey);
  return apiKeyBody(apiKey, true);
}

function updateApiKey(call: Call): unknown {
  const patches = parseBody(patchesSchema, call).patchOperations.map(({ path, value }) =>
    path === '/enabled' ? { enabled: value === 'true' } : { [path.slice(1)]: value },
  );
  const patched: ApiKey = Object.assign({ ...apiKeyOf(call) }, ...patches);
  call.records.putApiKey(patched);
  return apiKeyBody(patched, false);
}

const unlessEmpty = (tagsOfIt: object) => Object.keys(tagsOfIt).length > 0 && { tags: tagsOfIt };

/** A key as the API returns it. */
const apiKeyBody = ({ value, createdAt, tags: own, ...apiKey }: ApiKey, includeValue: boolean): unknown => ({
  ...apiKey,
  ...(includeValue && { value }),
  createdDate: Math.floor(createdAt / 1_000),
  ...unlessEmpty(own),
});

/** A plan as the API returns it. */
const usagePlanBody = ({ quota, tags: own, ...rest }: UsagePlan): unknown => ({
  ...rest,
  ...(quota && { quota: { limit: quota.limit, offset: 0, period: 'DAY' } }),
  ...unlessEmpty(own),
});

/** A key on a plan as the API returns it, always with its value. */
const planKeyBody = ({ id, value, name }: ApiKey): unknown => ({ id, type: 'API_KEY', value, name });

function createUsagePlanKey(call: Call): unknown {
  const { records } = call;
  const { id } = planOf(call);
  const apiKey = findApiKey(records, parseBody(newPlanKeySchema, call).keyId);
  const [other] = records.plansOfKey(apiKey.id);
  if (other?.id === id) throw conflict(`API Key ${apiKey.id} is on Usage Plan ${id} already`);
  if (other) {
    throw conflict(
      `Usage Plan ${id} cannot be added because API Key ${apiKey.id} cannot reference multiple Usage Plans with ` +
        'the same API stage',
    );
  }
  records.putOnPlan(id, apiKey.id);
  return planKeyBody(apiKey);
}

/** The keys' daily usage, and the quota left at the end of the day: 0 without a quota (undocumented by AWS). */
function getUsage(call: Call): unknown {
  const { records, query } = call;
  const { id, quota } = planOf(call);
  const [startDate, endDate] = [query.get('startDate') ?? '', query.get('endDate') ?? ''];
  const days = (Date.parse(endDate) - Date.parse(startDate)) / DAY_MS + 1;
  if (!(days >= 1 && days <= USAGE_DAYS)) {
    throw badRequest(`startDate and endDate must be dates such as 2026-01-31, at most ${USAGE_DAYS} days apart`);
  }
  const dates = Array.from({ length: days }, (_, day) => isoDay(Date.parse(startDate) + day * DAY_MS));
  const wanted = query.get('keyId');
  const apiKeys = records.keysOnPlan(id).filter((apiKey) => wanted === null || apiKey.id === wanted);
  const usageOf = (keyId: string, date: string): [used: number, left: number] => {
    const used = records.requestsOn(date, id, keyId);
    return [used, Math.max(0, (quota?.limit ?? 0) - used)];
  };
  const usage = pageOf(apiKeys, call, (key) => [key.id, dates.map((date) => usageOf(key.id, date))] as const);
  return { usagePlanId: id, startDate, endDate, values: Object.fromEntries(usage.item), position: usage.position };
}
