import { randomInt } from 'node:crypto';
import * as v from 'valibot';
import { type ApiKey, tagsSchema } from './records.ts';
import {
  applyPatches,
  badRequest,
  type Call,
  conflict,
  type Gateway,
  notFound,
  type Operation,
  pageOf,
  pagingParameters,
  parseBody,
  type Patches,
} from './call.ts';

const VALUE_ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

const createBodySchema = v.strictObject({
  name: v.optional(v.string()),
  description: v.optional(v.string()),
  enabled: v.optional(v.boolean(), false),
  value: v.optional(v.pipe(v.string(), v.minLength(20), v.maxLength(128))),
  tags: v.optional(tagsSchema, {}),
});

const patches: Patches<ApiKey> = {
  'replace /description': (key, description) => ({ ...key, description }),
  'replace /enabled': (key, value) => ({ ...key, enabled: flagOf(value) }),
  'replace /name': (key, name) => ({ ...key, name }),
};

export const apiKeyOperations: readonly Operation[] = [
  { name: 'CreateApiKey', route: 'POST /apikeys', run: createApiKey },
  { name: 'GetApiKeys', route: 'GET /apikeys', query: [...pagingParameters, 'name', 'includeValues'], run: getApiKeys },
  { name: 'GetApiKey', route: 'GET /apikeys/:apiKey', query: ['includeValue'], run: getApiKey },
  { name: 'UpdateApiKey', route: 'PATCH /apikeys/:apiKey', run: updateApiKey },
  { name: 'DeleteApiKey', route: 'DELETE /apikeys/:apiKey', run: deleteApiKey },
];

/** @throws ControlPlaneError where there is none with the id */
export function findApiKey({ records }: Gateway, id: string): ApiKey {
  const apiKey = records.apiKey(id);
  if (!apiKey) throw notFound('Invalid API Key identifier specified');
  return apiKey;
}

function createApiKey({ records }: Gateway, { body }: Call): unknown {
  const { value = newValue(), ...settings } = parseBody(createBodySchema, body);
  if (records.apiKeyWithValue(value)) throw conflict('API Key already exists');
  const now = Date.now();
  const apiKey: ApiKey = { id: records.newId(), value, ...settings, createdAt: now, updatedAt: now };
  records.putApiKey(apiKey);
  return apiKeyBody(apiKey, true);
}

function getApiKeys({ records }: Gateway, { query }: Call): unknown {
  const { items, position } = pageOf(withNamePrefix(records.apiKeys, query), query);
  return { item: items.map((apiKey) => apiKeyBody(apiKey, query.get('includeValues') === 'true')), position };
}

/** The keys whose name begins as the query asks for. */
export function withNamePrefix(apiKeys: readonly ApiKey[], query: URLSearchParams): ApiKey[] {
  const prefix = query.get('name') ?? '';
  return apiKeys.filter(({ name = '' }) => name.startsWith(prefix));
}

function getApiKey(gateway: Gateway, { parameter, query }: Call): unknown {
  return apiKeyBody(findApiKey(gateway, parameter('apiKey')), query.get('includeValue') === 'true');
}

function updateApiKey(gateway: Gateway, { parameter, body }: Call): unknown {
  const apiKey = findApiKey(gateway, parameter('apiKey'));
  const patched = { ...applyPatches(apiKey, body, patches), updatedAt: Date.now() };
  gateway.records.putApiKey(patched);
  return apiKeyBody(patched, false);
}

function deleteApiKey(gateway: Gateway, { parameter }: Call): void {
  gateway.records.deleteApiKey(findApiKey(gateway, parameter('apiKey')).id);
}

/** A key as the API gives it. */
function apiKeyBody({ value, createdAt, updatedAt, tags, ...apiKey }: ApiKey, includeValue: boolean): unknown {
  return {
    ...apiKey,
    ...(includeValue && { value }),
    createdDate: Math.floor(createdAt / 1_000),
    lastUpdatedDate: Math.floor(updatedAt / 1_000),
    stageKeys: [],
    ...(Object.keys(tags).length > 0 && { tags }),
  };
}

function newValue(): string {
  return Array.from({ length: 40 }, () => VALUE_ALPHABET.charAt(randomInt(VALUE_ALPHABET.length))).join('');
}

function flagOf(value: string): boolean {
  if (value !== 'true' && value !== 'false') throw badRequest(`/enabled must be true or false, not '${value}'`);
  return value === 'true';
}
