import { randomInt } from 'node:crypto';
import * as v from 'valibot';
import { account } from '../../local-endpoint.ts';
import { type ApiKey, tagsSchema } from './records.ts';
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

const VALUE_ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

const createBodySchema = v.strictObject({
  name: v.optional(v.string()),
  description: v.optional(v.string()),
  enabled: v.optional(v.boolean(), false),
  value: v.optional(v.pipe(v.string(), v.minLength(20), v.maxLength(128))),
  tags: v.optional(tagsSchema, {}),
});

const patchBodySchema = v.strictObject({
  patchOperations: v.array(v.strictObject({ op: v.string(), path: v.string(), value: v.optional(v.string(), '') })),
});

const tagBodySchema = v.strictObject({ tags: tagsSchema });

/** Clients send the slashes of an ARN encoded; people who type one may not. */
const tags = '/tags/:resourceArn{.+}';

/** API keys and their tags. */
export const apiKeyOperations: readonly Operation[] = [
  { name: 'CreateApiKey', route: 'POST /apikeys', run: createApiKey },
  { name: 'GetApiKeys', route: 'GET /apikeys', query: [...pagingParameters, 'name', 'includeValues'], run: getApiKeys },
  { name: 'GetApiKey', route: 'GET /apikeys/:apiKey', query: ['includeValue'], run: getApiKey },
  { name: 'UpdateApiKey', route: 'PATCH /apikeys/:apiKey', run: updateApiKey },
  { name: 'DeleteApiKey', route: 'DELETE /apikeys/:apiKey', run: deleteApiKey },
  { name: 'GetTags', route: `GET ${tags}`, run: (records, call) => ({ tags: taggedKey(records, call).tags }) },
  { name: 'TagResource', route: `PUT ${tags}`, run: tagResource },
  { name: 'UntagResource', route: `DELETE ${tags}`, query: ['tagKeys'], status: 204, run: untagResource },
];

/** @throws ControlPlaneError where there is none with the id */
export function findApiKey(records: GatewayRecords, id: string): ApiKey {
  const apiKey = records.apiKey(id);
  if (!apiKey) throw notFound('Invalid API Key identifier specified');
  return apiKey;
}

function createApiKey(records: GatewayRecords, { body }: Call): unknown {
  const { value = newValue(), ...settings } = parseBody(createBodySchema, body);
  if (records.apiKeyWithValue(value)) throw conflict('API Key already exists');
  const apiKey: ApiKey = { id: records.newId(), value, ...settings, createdAt: Date.now() };
  records.putApiKey(apiKey);
  return apiKeyBody(apiKey, true);
}

function getApiKeys(records: GatewayRecords, { query }: Call): unknown {
  const prefix = query.get('name') ?? '';
  const named = records.apiKeys.filter(({ name = '' }) => name.startsWith(prefix));
  const { items, position } = pageOf(named, query);
  return { item: items.map((apiKey) => apiKeyBody(apiKey, query.get('includeValues') === 'true')), position };
}

function getApiKey(records: GatewayRecords, { parameter, query }: Call): unknown {
  return apiKeyBody(findApiKey(records, parameter('apiKey')), query.get('includeValue') === 'true');
}

function updateApiKey(records: GatewayRecords, { parameter, body }: Call): unknown {
  const patched = { ...findApiKey(records, parameter('apiKey')) };
  for (const { op, path, value } of parseBody(patchBodySchema, body).patchOperations) {
    Object.assign(patched, patchOf(`${op} ${path}`, value));
  }
  records.putApiKey(patched);
  return apiKeyBody(patched, false);
}

/** What a patch operation changes. @throws ControlPlaneError on one that is not known */
function patchOf(operation: string, value: string): Partial<ApiKey> {
  if (operation === 'replace /name') return { name: value };
  if (operation === 'replace /description') return { description: value };
  if (operation !== 'replace /enabled') throw badRequest(`This host does not know the patch operation ${operation}`);
  if (value !== 'true' && value !== 'false') throw badRequest(`/enabled must be true or false, not '${value}'`);
  return { enabled: value === 'true' };
}

function deleteApiKey(records: GatewayRecords, { parameter }: Call): void {
  records.deleteApiKey(findApiKey(records, parameter('apiKey')).id);
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

function newValue(): string {
  return Array.from({ length: 40 }, () => VALUE_ALPHABET.charAt(randomInt(VALUE_ALPHABET.length))).join('');
}

function tagResource(records: GatewayRecords, call: Call): void {
  const apiKey = taggedKey(records, call);
  const added = parseBody(tagBodySchema, call.body).tags;
  records.putApiKey({ ...apiKey, tags: { ...apiKey.tags, ...added } });
}

function untagResource(records: GatewayRecords, call: Call): void {
  const apiKey = taggedKey(records, call);
  const names = call.query.getAll('tagKeys');
  const rest = Object.entries(apiKey.tags).filter(([name]) => !names.includes(name));
  records.putApiKey({ ...apiKey, tags: Object.fromEntries(rest) });
}

/** The key that an ARN names: `arn:aws:apigateway:us-east-1::/apikeys/ID`. */
function taggedKey(records: GatewayRecords, { parameter }: Call): ApiKey {
  const arn = parameter('resourceArn');
  const prefix = `arn:${account.partition}:apigateway:${account.region}::/apikeys/`;
  const apiKey = arn.startsWith(prefix) ? records.apiKey(arn.slice(prefix.length)) : undefined;
  if (!apiKey) throw notFound(`Invalid Resource identifier specified: ${arn}`);
  return apiKey;
}
