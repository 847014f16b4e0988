import { randomBytes, randomUUID } from 'node:crypto';
import { type Context, Hono, type MiddlewareHandler } from 'hono';
import { HTTPException } from 'hono/http-exception';
import pLimit from 'p-limit';
import * as v from 'valibot';
import { account } from '../../local-endpoint.ts';
import { type ApiKey, type GatewayRecords, tagsSchema, type UsagePlan } from './gateway-records.ts';

/** Max body of a call. */
const MAX_BODY_BYTES = 1024 * 1024;

/** Whether a path belongs to API Gateway's API, which has operations that are not supported here. */
export const isControlPlanePath = (path: string): boolean =>
  /^\/(?:account|apikeys|domainnames|restapis|tags|usageplans|vpclinks)(?:\/|$)/.test(path);

/** AWS's names of rejected calls, by their status. */
const errorTypes: Readonly<Record<number, string>> = {
  400: 'BadRequestException',
  403: 'MissingAuthenticationTokenException',
  404: 'NotFoundException',
  409: 'ConflictException',
  413: 'RequestEntityTooLargeException',
};

/**
 * API Gateway's own API, limited to API keys, their tags and the keys of usage plans.
 *
 * @param changed called after every change, like CloudTrail on AWS
 */
export function createControlPlane(records: GatewayRecords, changed: () => void): Hono {
  const app = new Hono();
  app.use(checkRequest, changesInSequence(changed));
  addKeyRoutes(app, records);
  addPlanRoutes(app, records);
  const operations = app.routes.filter(({ method }) => method !== 'ALL').map(({ method, path }) => `${method} ${path}`);
  app.notFound((call) => {
    const known = `Supported operations of API Gateway: ${operations.join(', ')}`;
    const message = `This server does not support ${call.req.method} ${call.req.path}. ${known}`;
    return call.json({ message }, 404, { 'x-amzn-ErrorType': 'UnknownOperationException' });
  });
  return app.onError((error, call) => {
    if (error instanceof HTTPException) {
      const { status, message } = error;
      return call.json({ message }, status, { 'x-amzn-ErrorType': errorTypes[status] ?? '' });
    }
    // A fault of the server, such as a full disk.
    process.stderr.write(`${error.stack}\n`);
    return call.json({ message: 'Internal server error' }, 500, { 'x-amzn-ErrorType': 'InternalFailure' });
  });
}

/**
 * Refuses unsigned calls, long bodies or those without a length, and paths that are no valid URL. Any credentials are
 * accepted: no signature is checked.
 */
const checkRequest: MiddlewareHandler = (call, next) => {
  call.header('x-amzn-RequestId', randomUUID());
  if (!call.req.header('Authorization')?.startsWith('AWS4-')) {
    throw new HTTPException(403, { message: 'Missing Authentication Token' });
  }
  const { 'content-length': length = 0, 'transfer-encoding': encoding } = call.req.header();
  if (encoding !== undefined || Number(length) > MAX_BODY_BYTES) {
    throw new HTTPException(413, { message: 'Request Too Long' });
  }
  const { pathname } = new URL(call.req.url);
  try {
    decodeURIComponent(pathname);
  } catch {
    throw badRequest(`${pathname} is not a valid path of a URL`);
  }
  return next();
};

/** Runs one change at a time: each reads what the last one has stored. */
function changesInSequence(changed: () => void): MiddlewareHandler {
  const inSequence = pLimit(1);
  return async (call, handle) => {
    if (call.req.method === 'GET') return handle();
    // Before its turn: a slow client delays no others.
    await call.req.text();
    await inSequence(handle);
    if (call.res.ok) changed();
  };
}

/** Max entries per page of a list. */
const MAX_PAGE = 500;

const badRequest = (message: string) => new HTTPException(400, { message });
const conflict = (message: string) => new HTTPException(409, { message });

function found<Value>(value: Value | undefined, message: string): Value {
  if (value === undefined) throw new HTTPException(404, { message });
  return value;
}

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
const newPlanKeySchema = v.strictObject({ keyId: text, keyType: v.literal('API_KEY') });

/**
 * The operations on API keys and their tags that the admin command, the sync of keys and the guides use. Each change
 * replaces one key.
 */
function addKeyRoutes(app: Hono, records: GatewayRecords): void {
  app.post('/apikeys', async (call) => {
    const { value = randomBytes(20).toString('hex'), ...settings } = await bodyOf(newKeySchema, call);
    if (records.apiKeyWithValue(value)) throw conflict('API Key already exists');
    const apiKey: ApiKey = { id: randomBytes(5).toString('hex'), value, ...settings, createdAt: Date.now() };
    await records.saveApiKey(apiKey);
    return call.json(apiKeyBody(apiKey, true), 201);
  });
  app.get('/apikeys', (call) => {
    const withValues = call.req.query('includeValues') === 'true';
    const prefix = call.req.query('name') ?? '';
    const named = records.apiKeys.filter(({ name = '' }) => name.startsWith(prefix));
    return call.json(pageOf(named, call, (key) => apiKeyBody(key, withValues)));
  });
  app.get('/apikeys/:id', (call) => {
    const apiKey = findApiKey(records, call.req.param('id'));
    return call.json(apiKeyBody(apiKey, call.req.query('includeValue') === 'true'));
  });
  app.patch('/apikeys/:id', async (call) => {
    const { patchOperations } = await bodyOf(v.strictObject({ patchOperations: v.array(patchSchema) }), call);
    const patches = patchOperations.map(({ path, value }) =>
      path === '/enabled' ? { enabled: value === 'true' } : { [path.slice(1)]: value },
    );
    const patched: ApiKey = Object.assign({ ...findApiKey(records, call.req.param('id')) }, ...patches);
    await records.saveApiKey(patched);
    return call.json(apiKeyBody(patched, false));
  });
  app.delete('/apikeys/:id', async (call) => {
    await records.removeApiKey(findApiKey(records, call.req.param('id')).id);
    return call.body(null, 202);
  });
  app.put('/tags/:arn', async (call) => {
    const apiKey = findTaggedKey(records, call.req.param('arn'));
    const { tags } = await bodyOf(v.strictObject({ tags: tagsSchema }), call);
    await records.saveApiKey({ ...apiKey, tags: { ...apiKey.tags, ...tags } });
    return call.body(null, 204);
  });
  app.delete('/tags/:arn', async (call) => {
    const apiKey = findTaggedKey(records, call.req.param('arn'));
    const names = call.req.queries('tagKeys') ?? [];
    const rest = Object.entries(apiKey.tags).filter(([name]) => !names.includes(name));
    await records.saveApiKey({ ...apiKey, tags: Object.fromEntries(rest) });
    return call.body(null, 204);
  });
}

/** Only deployments change the plans themselves. */
function addPlanRoutes(app: Hono, records: GatewayRecords): void {
  app.get('/usageplans', (call) => {
    const keyId = call.req.query('keyId');
    return call.json(pageOf(keyId === undefined ? records.usagePlans : records.plansOfKey(keyId), call, usagePlanBody));
  });
  app.post('/usageplans/:id/keys', async (call) => {
    const { id } = findPlan(records, call.req.param('id'));
    const apiKey = findApiKey(records, (await bodyOf(newPlanKeySchema, call)).keyId);
    const [other] = records.plansOfKey(apiKey.id);
    if (other?.id === id) throw conflict(`API Key ${apiKey.id} is on Usage Plan ${id} already`);
    if (other) {
      throw conflict(
        `Usage Plan ${id} cannot be added because API Key ${apiKey.id} cannot reference multiple Usage Plans with ` +
          'the same API stage',
      );
    }
    await records.saveApiKey({ ...apiKey, planId: id });
    return call.json(planKeyBody(apiKey), 201);
  });
  app.get('/usageplans/:id/keys', (call) => {
    const { id } = findPlan(records, call.req.param('id'));
    return call.json(pageOf(records.keysOnPlan(id), call, planKeyBody));
  });
  app.get('/usageplans/:id/keys/:keyId', (call) => {
    const { id, keyId } = call.req.param();
    return call.json(planKeyBody(findPlanKey(records, id, keyId)));
  });
  app.delete('/usageplans/:id/keys/:keyId', async (call) => {
    const { id, keyId } = call.req.param();
    await records.saveApiKey({ ...findPlanKey(records, id, keyId), planId: undefined });
    return call.body(null, 202);
  });
}

/** Parses the body of a call. @throws HTTPException naming the invalid or unknown member */
async function bodyOf<Schema extends v.GenericSchema>(schema: Schema, { req }: Context) {
  const result = v.safeParse(v.pipe(v.string(), v.parseJson(), schema), (await req.text()) || '{}');
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
  { req }: Context,
  toBody: (item: Item) => Body,
) {
  const limit = Number(req.query('limit') ?? 25);
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_PAGE) {
    throw badRequest(`limit must be a number from 1 to ${MAX_PAGE}`);
  }
  const after = req.query('position') ?? '';
  const rest = items.filter(({ id }) => id > after).toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const page = rest.slice(0, limit);
  return { item: page.map(toBody), position: rest.length > limit ? page.at(-1)?.id : undefined };
}

const findApiKey = (records: GatewayRecords, id: string): ApiKey =>
  found(records.apiKey(id), 'Invalid API Key identifier specified');

/** The key of an ARN: `arn:aws:apigateway:us-east-1::/apikeys/ID`. */
function findTaggedKey(records: GatewayRecords, arn: string): ApiKey {
  const prefix = `arn:${account.partition}:apigateway:${account.region}::/apikeys/`;
  const id = arn.startsWith(prefix) ? arn.slice(prefix.length) : '';
  return found(records.apiKey(id), `Invalid Resource identifier specified: ${arn}`);
}

const findPlan = (records: GatewayRecords, id: string): UsagePlan =>
  found(records.plans.get(id), 'Invalid Usage Plan ID specified');

function findPlanKey(records: GatewayRecords, planId: string, keyId: string): ApiKey {
  const key = records.keysOnPlan(findPlan(records, planId).id).find(({ id }) => id === keyId);
  return found(key, 'Invalid Usage Plan Key identifier specified');
}

const unlessEmpty = (tags: object) => Object.keys(tags).length > 0 && { tags };

/** A key as the API returns it. */
function apiKeyBody(apiKey: ApiKey, includeValue: boolean): object {
  const { value, createdAt, tags, planId: _, ...rest } = apiKey;
  return {
    ...rest,
    ...(includeValue && { value }),
    createdDate: Math.floor(createdAt / 1_000),
    ...unlessEmpty(tags),
  };
}

const usagePlanBody = ({ tags, ...rest }: UsagePlan): object => ({ ...rest, ...unlessEmpty(tags) });

/** A key on a plan as the API returns it, always with its value. */
const planKeyBody = ({ id, value, name }: ApiKey): object => ({ id, type: 'API_KEY', value, name });
