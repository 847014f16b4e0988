import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { routes } from '../../shared/contract/routes.ts';
import { tokenEntry } from '../../shared/key-registry/record-changes.ts';
import { generateToken } from '../../shared/keys/token.ts';
import { ApiClient, checked } from '../support/api-client.ts';
import { type IssuedKey, issueKey } from '../support/issue-key.ts';
import { LocalHost } from '../support/local-host.ts';
import { exchange, parseResponse } from '../support/raw-http.ts';
import { parsed } from '../support/tables.ts';

let host: LocalHost;
let key: IssuedKey;
let api: ApiClient;
let withoutKey: ApiClient;

beforeAll(async () => {
  host = await LocalHost.start();
  key = await issueKey(host);
  api = ApiClient.withKey(host.baseUrl, key.token);
  withoutKey = new ApiClient(host.baseUrl, undefined);
});

afterAll(() => host?.close());

const listWithKey = (token: string) => ApiClient.withKey(host.baseUrl, token).list();

describe('a request without a valid key', () => {
  test('is denied with 401 before any other check', async () => {
    expect(await withoutKey.send('PATCH', '/inventory/no-pet')).toMatchObject({
      status: 401,
      rateLimit: { limit: 0, remaining: 0 },
    });
  });

  test('gets the same response for a disabled, expired or unknown key, and another for a typo', async () => {
    const disabled = await issueKey(host, { enabled: false });
    const expired = await issueKey(host, { expiresAtMs: Date.now() - 1 });
    const tokens = [disabled.token, expired.token, generateToken()];
    const responses = await Promise.all(tokens.map(listWithKey));

    expect(responses[0]).toMatchObject({ status: 401, error: { code: 'API_KEY_INVALID' } });
    expect(new Set(responses.map((reply) => reply.text))).toHaveProperty('size', 1);
    expect(await listWithKey(`${key.token}x`)).toMatchObject({
      status: 401,
      error: { code: 'API_KEY_INVALID', message: expect.stringContaining('mistyped') },
    });
  });

  test('is denied with 401 for a stored record id, a stored hash, or an unknown token of a key', async () => {
    const { recordId, hash } = parsed(key.token);
    const hexHash = Buffer.from(hash, 'base64url').toString('hex');
    for (const stored of [recordId, hexHash]) {
      const ofItself = createHash('sha256').update(stored).digest('hex');
      await key.put({ ...(await key.read()), recordId: ofItself, tokens: tokenEntry(stored, {}, 0), keyId: stored });
    }

    for (const refused of [recordId, hexHash, generateToken(recordId)])
      expect(await listWithKey(refused)).toMatchObject({ status: 401, error: { code: 'API_KEY_INVALID' } });
  });
});

const paths = [...new Set(Object.values(routes).map(({ path }) => `/v1${path}`))].join(', ');

describe('an unknown route', () => {
  test.each([
    [
      'DELETE',
      '/inventory/101',
      405,
      '/inventory/{petId} supports GET, HEAD, PATCH, not "DELETE".',
      'GET, HEAD, PATCH, OPTIONS',
    ],
    ['GET', '', 404, `There is nothing at "/v1/". Known paths: ${paths}.`, null],
    [
      'GET',
      '/inventory/',
      404,
      `There is nothing at "/v1/inventory/". Remove the trailing slash. Known paths: ${paths}.`,
      null,
    ],
    ['GET', '/%zz', 404, `There is nothing at "/v1/%zz". Known paths: ${paths}.`, null],
  ])('%s %s returns %i and names the known ones', async (method, path, status, message, allowed) => {
    const reply = await api.send(method, path);

    expect(reply).toMatchObject({ status, error: { message } });
    expect(reply.headers.get('Allow')).toBe(allowed);
  });

  test('without the stage returns 404 with the address of the API', async () => {
    const { status, error } = await new ApiClient(host.origin, undefined).send('GET', '/inventory');

    expect({ status, message: error?.message }).toEqual({
      status: 404,
      message: expect.stringContaining(host.baseUrl),
    });
  });
});

test('a CORS preflight needs no key', async () => {
  const headers = { Origin: 'https://example.com', 'Access-Control-Request-Method': 'PATCH' };
  const reply = await withoutKey.send('OPTIONS', '/inventory/101', { headers });

  expect(reply).toMatchObject({ status: 204, text: '' });
  expect(reply.headers.get('Access-Control-Allow-Origin')).toBe('*');
  expect(reply.headers.get('Access-Control-Max-Age')).toBe('3600');
});

test('a request with the Host of another server returns 400', async () => {
  const rebound = 'GET /v1/inventory HTTP/1.1\r\nHost: rebound.example.com\r\nConnection: close\r\n\r\n';
  const reply = checked(parseResponse(await exchange(host.origin, rebound)));

  expect(reply).toMatchObject({ error: { code: 'BAD_REQUEST' } });
});

describe('The private part of the server', () => {
  const authorization =
    'AWS4-HMAC-SHA256 Credential=x/20261122/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=x';
  const listTables = {
    authorization,
    'x-amz-date': '20261122T000000Z',
    'x-amz-target': 'DynamoDB_20120810.ListTables',
    'content-type': 'application/x-amz-json-1.0',
  };
  const callDatabase = { method: 'POST', headers: listTables, body: '{}' };

  test.each([
    ['the database', '/', callDatabase, '-TablesStock'],
    ['the keys', '/apikeys?includeValues=true', { headers: { authorization } }, 'demo-free'],
    ['the outputs', '/outputs.json', { headers: {} }, 'StockTableName'],
  ])('gives %s to a local caller, but not to a page of another origin', async (_, path, call, part) => {
    const own = await fetch(host.origin + path, call);
    const refused = await fetch(host.origin + path, {
      ...call,
      headers: { ...call.headers, origin: 'https://example.com' },
    });

    expect(await own.text()).toContain(part);
    expect(refused.status).toBe(403);
    expect(refused.headers.get('access-control-allow-origin')).toBeNull();
  });

  test('has outputs with the URLs of this server', async () => {
    const outputs = JSON.stringify(host.host.outputs);

    expect(host.host.outputs).toMatchObject({ BaseUrl: host.baseUrl, GatewayUrl: host.baseUrl });
    expect(outputs).not.toContain('execute-api');
  });

  test('serves nothing at the port of the engine without its secret path', async () => {
    const response = await fetch(new URL('/', host.host.engineEndpoint), callDatabase);

    expect(response.status).toBe(404);
    expect(await response.text()).toBe('');
  });
});
