import { randomInt } from 'node:crypto';
import * as v from 'valibot';
import { account } from '../../local-endpoint.ts';
import { type Call, conflict, notFound, type Operations, pageOf, parseBody } from './call.ts';
import type { GatewayRecords } from './gateway-records.ts';
import { type ApiKey, tagsSchema } from './records.ts';

const VALUE_ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

const createBodySchema = v.strictObject({
  name: v.optional(v.string()),
  description: v.optional(v.string()),
  enabled: v.optional(v.boolean(), false),
  value: v.optional(v.pipe(v.string(), v.minLength(20), v.maxLength(128))),
  tags: v.optional(tagsSchema, {}),
});

/** The changes that the host knows, by operation and path. */
const patchSchema = v.variant('path', [
  v.object({
    op: v.literal('replace'),
    path: v.picklist(['/name', '/description']),
    value: v.optional(v.string(), ''),
  }),
  v.object({ op: v.literal('replace'), path: v.literal('/enabled'), value: v.picklist(['true', 'false']) }),
]);
const patchBodySchema = v.strictObject({ patchOperations: v.array(patchSchema) });

const tagBodySchema = v.strictObject({ tags: tagsSchema });

/** Clients send the slashes of an ARN encoded; people who type one may not. */
const tags = '/tags/:resourceArn{.+}';

/** API keys and their tags. */
export const apiKeyOperations: Operations = {
  'POST /apikeys': createApiKey,
  'GET /apikeys': (call) => {
    const prefix = call.query.get('name') ?? '';
    const named = call.records.apiKeys.filter(({ name = '' }) => name.startsWith(prefix));
    const { items, position } = pageOf(named, call);
    return { item: items.map((key) => apiKeyBody(key, call.query.get('includeValues') === 'true')), position };
  },
  'GET /apikeys/:apiKey': (call) => apiKeyBody(keyOf(call), call.query.get('includeValue') === 'true'),
  'PATCH /apikeys/:apiKey': updateApiKey,
  'DELETE /apikeys/:apiKey': (call) => call.records.deleteApiKey(keyOf(call).id),
  [`GET ${tags}`]: (call) => ({ tags: taggedKey(call).tags }),
  [`PUT ${tags}`]: (call) => {
    const apiKey = taggedKey(call);
    call.records.putApiKey({ ...apiKey, tags: { ...apiKey.tags, ...parseBody(tagBodySchema, call).tags } });
  },
  [`DELETE ${tags}`]: (call) => {
    const apiKey = taggedKey(call);
    const names = call.query.getAll('tagKeys');
    const rest = Object.entries(apiKey.tags).filter(([name]) => !names.includes(name));
    call.records.putApiKey({ ...apiKey, tags: Object.fromEntries(rest) });
  },
};

/** @throws ControlPlaneError where there is none with the id */
export function findApiKey(records: GatewayRecords, id: string): ApiKey {
  const apiKey = records.apiKey(id);
  if (!apiKey) throw notFound('Invalid API Key identifier specified');
  return apiKey;
}

const keyOf = ({ records, parameter }: Call): ApiKey => findApiKey(records, parameter('apiKey'));

function createApiKey(call: Call): unknown {
  const { records } = call;
  const { value = newValue(), ...settings } = parseBody(createBodySchema, call);
  if (records.apiKeyWithValue(value)) throw conflict('API Key already exists');
  const apiKey: ApiKey = { id: records.newId(), value, ...settings, createdAt: Date.now() };
  records.putApiKey(apiKey);
  return apiKeyBody(apiKey, true);
}

const newValue = (): string =>
  Array.from({ length: 40 }, () => VALUE_ALPHABET.charAt(randomInt(VALUE_ALPHABET.length))).join('');

function updateApiKey(call: Call): unknown {
  const patches = parseBody(patchBodySchema, call).patchOperations.map(({ path, value }) =>
    path === '/enabled' ? { enabled: value === 'true' } : { [path.slice(1)]: value },
  );
  const patched: ApiKey = Object.assign({ ...keyOf(call) }, ...patches);
  call.records.putApiKey(patched);
  return apiKeyBody(patched, false);
}

/** A key as the API gives it. */
function apiKeyBody({ value, createdAt, tags: ownTags, ...apiKey }: ApiKey, includeValue: boolean): unknown {
  return {
    ...apiKey,
    ...(includeValue && { value }),
    createdDate: Math.floor(createdAt / 1_000),
    ...(Object.keys(ownTags).length > 0 && { tags: ownTags }),
  };
}

/** The key that an ARN names: `arn:aws:apigateway:us-east-1::/apikeys/ID`. */
function taggedKey({ records, parameter }: Call): ApiKey {
  const arn = parameter('resourceArn');
  const prefix = `arn:${account.partition}:apigateway:${account.region}::/apikeys/`;
  const apiKey = arn.startsWith(prefix) ? records.apiKey(arn.slice(prefix.length)) : undefined;
  if (!apiKey) throw notFound(`Invalid Resource identifier specified: ${arn}`);
  return apiKey;
}
