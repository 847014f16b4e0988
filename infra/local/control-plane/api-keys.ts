import { randomInt } from 'node:crypto';
import * as v from 'valibot';
import type { ApiKey } from '../gateway-records/api-key.ts';
import { badRequest, conflict, ControlPlaneError, notFound } from './control-plane-error.ts';
import { type Call, type Gateway, type Operation, parameter } from './operation.ts';
import { pageOf, pagingParameters } from './paging.ts';
import { applyPatches, type Patch } from './patch-operations.ts';
import { parseBody } from './request-body.ts';
import { parseTags, tagsMember } from './tag-rules.ts';

/** Of an account and region, and not to be raised. */
const MAX_KEYS = 10_000;

const VALUE_ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

const name = v.pipe(v.string(), v.maxLength(1_024));

const createBodySchema = v.strictObject({
  name: v.optional(name),
  description: v.optional(v.string()),
  enabled: v.optional(v.boolean(), false),
  value: v.optional(v.pipe(v.string(), v.minLength(20), v.maxLength(128))),
  tags: v.optional(v.unknown(), {}),
});

const patches: readonly Patch<ApiKey>[] = [
  { op: 'replace', path: '/description', apply: (key, description) => ({ ...key, description }) },
  { op: 'replace', path: '/enabled', apply: (key, value) => ({ ...key, enabled: flagOf(value) }) },
  { op: 'replace', path: '/name', apply: (key, value) => ({ ...key, name: parseBody(name, value) }) },
];

export const apiKeyOperations: readonly Operation[] = [
  { name: 'CreateApiKey', method: 'POST', path: '/apikeys', status: 201, run: createApiKey },
  {
    name: 'GetApiKeys',
    method: 'GET',
    path: '/apikeys',
    query: [...pagingParameters, 'name', 'includeValues'],
    status: 200,
    run: getApiKeys,
  },
  {
    name: 'GetApiKey',
    method: 'GET',
    path: '/apikeys/{apiKey}',
    query: ['includeValue'],
    status: 200,
    run: (gateway, call) => answerOf(findApiKey(gateway, parameter(call, 'apiKey')), call.query.flag('includeValue')),
  },
  { name: 'UpdateApiKey', method: 'PATCH', path: '/apikeys/{apiKey}', status: 200, run: updateApiKey },
  {
    name: 'DeleteApiKey',
    method: 'DELETE',
    path: '/apikeys/{apiKey}',
    status: 202,
    run: (gateway, call) => gateway.records.deleteApiKey(findApiKey(gateway, parameter(call, 'apiKey')).id),
  },
];

/** @throws ControlPlaneError where there is none with the id */
export function findApiKey({ records }: Gateway, id: string): ApiKey {
  const key = records.apiKey(id);
  if (!key) throw notFound('Invalid API Key identifier specified');
  return key;
}

function createApiKey({ records }: Gateway, { body }: Call): unknown {
  const { value = newValue(), enabled, tags, ...parts } = parseBody(createBodySchema, body);
  if (records.apiKeyWithValue(value)) throw conflict('API Key already exists');
  if (records.apiKeyCount >= MAX_KEYS) {
    throw new ControlPlaneError('LimitExceededException', `An account can have at most ${MAX_KEYS} API keys`);
  }
  const now = Date.now();
  const key: ApiKey = {
    id: records.newId(),
    value,
    name: parts.name,
    description: parts.description,
    enabled,
    createdAt: now,
    updatedAt: now,
    tags: parseTags(tags),
  };
  records.putApiKey(key);
  return answerOf(key, true);
}

function getApiKeys({ records }: Gateway, { query }: Call): unknown {
  const includeValues = query.flag('includeValues');
  const prefix = query.text('name') ?? '';
  const keys = records.apiKeys.filter((key) => (key.name ?? '').startsWith(prefix));
  const { items, position } = pageOf(keys, query);
  return { item: items.map((key) => answerOf(key, includeValues)), position };
}

function updateApiKey(gateway: Gateway, call: Call): unknown {
  const key = findApiKey(gateway, parameter(call, 'apiKey'));
  const patched = { ...applyPatches(key, call.body, patches), updatedAt: Date.now() };
  gateway.records.putApiKey(patched);
  return answerOf(patched, false);
}

/** A key as the API gives it. */
function answerOf({ value, createdAt, updatedAt, tags, ...key }: ApiKey, includeValue: boolean): unknown {
  return {
    ...key,
    ...(includeValue && { value }),
    createdDate: epochSeconds(createdAt),
    lastUpdatedDate: epochSeconds(updatedAt),
    stageKeys: [],
    ...tagsMember(tags),
  };
}

const epochSeconds = (epochMs: number): number => Math.floor(epochMs / 1_000);

function newValue(): string {
  return Array.from({ length: 40 }, () => VALUE_ALPHABET.charAt(randomInt(VALUE_ALPHABET.length))).join('');
}

function flagOf(value: string): boolean {
  if (value !== 'true' && value !== 'false') throw badRequest(`/enabled must be true or false, not '${value}'`);
  return value === 'true';
}
