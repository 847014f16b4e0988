import { inspect } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { InventoryClient, InventoryClientError } from '../../../shared/client/pet-store-inventory-client.ts';
import { API_VERSION } from '../../../shared/contract/records.ts';
import {
  apiErrorOf,
  failureOf,
  quickClient,
  SECRET_KEY,
  reply,
  breakOff,
  failure,
  hangUp,
  ScriptedServer,
  silence,
  stall,
  type Step,
} from './scripted-server.ts';

const entry = { petId: 101, quantity: 7, status: 'available' };
const good = reply(200, entry, { ETag: '"7"', 'x-amzn-RequestId': 'request-1' });

const expectNoKey = (value: unknown): void =>
  expect(inspect(value, { depth: Infinity, showHidden: true, getters: true })).not.toContain(SECRET_KEY);

describe('options', () => {
  test.each([
    [{ baseUrl: 'ftp://example.com/v1' }, /^baseUrl must be a URL such as/],
    [{ baseUrl: 'https://me:you@example.com/v1' }, /without user, query and fragment$/],
    [{ apiKey: `${SECRET_KEY}\n` }, /^apiKey is missing, or has an invalid character/],
  ])('%j are refused', async (differences, message) => {
    const right = { baseUrl: 'https://x.test/v1', apiKey: SECRET_KEY };
    // Reflect, because a program without types can have them.
    const thrown = await failureOf(
      Promise.try(() => Reflect.construct(InventoryClient, [{ ...right, ...differences }])),
    );
    expect(thrown).toBeInstanceOf(TypeError);
    expect(thrown).toMatchObject({ message: expect.stringMatching(message) });
    expect(inspect(thrown)).not.toMatch(/psk_|you@/);
  });

  test('of a call override those of the client', async () => {
    const server = await ScriptedServer.start(failure(503, 'SERVICE_UNAVAILABLE'), good);
    await apiErrorOf(quickClient(server).updateInventory(101n, 7, { maxRetries: 0 }));
    expect(server.requests).toHaveLength(1);
    const slow = await ScriptedServer.start(silence);
    const call = quickClient(slow, { timeout: 60_000 }).getPet(101n, { timeout: 20, maxRetries: 0 });
    expect(await failureOf(call)).toMatchObject({ name: 'ConnectionError', reason: 'timeout' });
  });
});

describe('a request', () => {
  test('is sent with the fetch option, and names the client and its version', async () => {
    const server = await ScriptedServer.start(good);
    const urls: string[] = [];
    const sendAndNote = (url: string, init: RequestInit): Promise<Response> => {
      urls.push(url);
      return fetch(url, init);
    };
    await quickClient(server, { fetch: sendAndNote }).getInventory(101n);

    expect(urls).toEqual([`${server.baseUrl}/inventory/101`]);
    expect(server.requests[0]?.headers['user-agent']).toBe(`pet-store-inventory-client/${API_VERSION}`);
  });

  test('has the API key that the apiKey function returns for it', async () => {
    const server = await ScriptedServer.start(failure(503, 'SERVICE_UNAVAILABLE'), good);
    const keys = ['psk_first', 'psk_second', `${SECRET_KEY}\n`];
    const store = quickClient(server, { apiKey: async () => keys.shift() ?? '' });
    await store.getInventory(101n);

    const sent = server.requests.map(({ headers }) => headers.authorization);
    expect(sent).toEqual(['Bearer psk_first', 'Bearer psk_second']);
    const thrown = await failureOf(store.getInventory(101n));
    expect(thrown).toBeInstanceOf(TypeError);
    expectNoKey(thrown);
    const broken = new Error('The vault is closed');
    const lost = quickClient(server, { apiKey: () => Promise.reject(broken) });
    expect(await failureOf(lost.getInventory(101n))).toBe(broken);
  });
});

describe('an update', () => {
  test('keeps its body and its Idempotency-Key in all retries', async () => {
    const server = await ScriptedServer.start(hangUp, failure(503, 'SERVICE_UNAVAILABLE'), good);
    const store = quickClient(server);
    const updated = await store.updateInventory(101n, 7, { ifMatch: '"6"' });
    expect(updated).toMatchObject({ data: { ...entry, petId: 101n }, etag: '"7"', requestId: 'request-1' });
    expect(updated.response.headers.get('ETag')).toBe('"7"');
    const [first] = server.requests;
    expect(first).toMatchObject({
      method: 'PATCH',
      path: '/v1/inventory/101',
      body: '{"quantity":7}',
      headers: {
        authorization: `Bearer ${SECRET_KEY}`,
        'content-type': 'application/json',
        'if-match': '"6"',
        'idempotency-key': expect.stringMatching(/^"[-0-9]{5,}"$/),
      },
    });
    expect(server.requests).toEqual([first, first, first]);
    await store.updateInventory(101n, { quantity: 7 });
    expect(server.requests[3]?.body).toBe(first?.body);
    expect(server.requests[3]?.headers['idempotency-key']).not.toBe(first?.headers['idempotency-key']);
  });

  test.each<[string, (store: InventoryClient) => Promise<unknown>]>([
    ['petId must be', (store) => store.updateInventory(2 ** 53, 7)],
    ['idempotencyKey must be', (store) => store.updateInventory(1n, 7, { idempotencyKey: 'x'.repeat(256) })],
    ['ifMatch is undefined', (store) => store.updateInventory(1n, 7, { ifMatch: undefined })],
    ['ifMatch is undefined', (store) => store.updateInventories([{ petId: 1n, quantity: 7, ifMatch: undefined }])],
    [
      'ifQuantity is undefined',
      (store) => store.updateInventories([{ petId: 1n, quantity: 7, ifQuantity: undefined }]),
    ],
    ['A petId has several', (store) => store.updateInventories([1n, 1].map((petId) => ({ petId, quantity: 7 })))],
    ['idempotencyKey must', (store) => store.updateInventories([{ petId: 1n, quantity: 7 }], { idempotencyKey: '' })],
  ])('is refused unsent: %s', async (message, call) => {
    const server = await ScriptedServer.start(good);

    expect(String(await failureOf(call(quickClient(server))))).toContain(`TypeError: ${message}`);
    expect(server.requests).toEqual([]);
  });
});

describe('a request that failed', () => {
  const soon = { 'Retry-After': '0' };
  const seen = { ETag: '"8"', 'x-amzn-RequestId': 'r', 'Retry-After': '5' };
  const precise = { message: 'This is PRECONDITION_FAILED.', etag: '"8"', requestId: 'r', retryAfter: 5 };

  test.each<[isRepeated: boolean, Step, object]>([
    [true, failure(429, 'RATE_LIMIT_EXCEEDED', soon), { name: 'ApiError', code: 'RATE_LIMIT_EXCEEDED' }],
    [true, failure(503, 'SERVICE_UNAVAILABLE', soon), { status: 503 }],
    [true, silence, { name: 'ConnectionError', reason: 'timeout' }],
    [true, stall('{'), { reason: 'timeout' }],
    [true, breakOff('{'), { reason: 'truncated' }],
    [false, reply(200, '{'), { reason: 'unreadable' }],
    [false, reply(307, '', { Location: '/v2' }), {}],
    [false, reply(404, '<html>'), { name: 'ApiError', code: 'UNEXPECTED_RESPONSE', status: 404 }],
    [false, failure(412, 'PRECONDITION_FAILED', seen), { code: 'PRECONDITION_FAILED', status: 412, ...precise }],
    [false, failure(501, 'OTHER', soon), { status: 501 }],
  ])('is retried (%s), reports its reason, and never shows the key: %#', async (isRepeated, step, expected) => {
    const server = await ScriptedServer.start(step);
    const timeout = 'reason' in expected && expected.reason === 'timeout' ? 300 : 30_000;
    const store = quickClient(server, { maxRetries: 2, timeout });
    const thrown = await failureOf(store.updateInventory(101n, 7));
    expect(thrown).toMatchObject(expected);
    expect(server.requests).toHaveLength(isRepeated ? 3 : 1);
    expect(thrown).toBeInstanceOf(InventoryClientError);
    for (const value of [store, thrown]) expectNoKey(value);
  });

  test('without a connection never shows the key', async () => {
    const server = await ScriptedServer.start(hangUp);
    const thrown = await failureOf(quickClient(server, { maxRetries: 0 }).getInventory(101n));
    expect(thrown).toMatchObject({ name: 'ConnectionError', reason: 'network' });
    expectNoKey(thrown);
  });

  test('reports a fetch error without a cause once', async () => {
    const options = { baseUrl: 'http://127.0.0.1', apiKey: 'k', maxRetries: 0 };
    const store = new InventoryClient({ ...options, fetch: () => Promise.reject(new TypeError('fetch failed')) });
    await expect(store.getInventory(101n)).rejects.toThrow(/ \(network\): fetch failed$/);
  });

  test('has its code and message, but no response, in JSON', async () => {
    const server = await ScriptedServer.start(failure(412, 'PRECONDITION_FAILED', seen));
    const thrown = await apiErrorOf(quickClient(server).updateInventory(101n, 7));
    expect(JSON.parse(JSON.stringify(thrown))).toEqual({ code: 'PRECONDITION_FAILED', status: 412, ...precise });
  });

  test('waits longer before each retry, with jitter', async () => {
    const times: number[] = [];
    const server = await ScriptedServer.start((response, request) => {
      times.push(performance.now());
      failure(500, 'INTERNAL_ERROR')(response, request);
    });
    await apiErrorOf(quickClient(server, { retryDelay: 40, maxRetries: 3 }).updateInventory(101n, 7));
    const pauses = times.slice(1).map((time, index) => time - (times[index] ?? 0));
    expect(pauses).toHaveLength(3);
    pauses.forEach((pause, index) => expect(pause).toBeGreaterThan(20 * 2 ** index - 2));
  });

  test.each([
    ['of one request', 1_999, 503, 'SERVICE_UNAVAILABLE', '2', 1],
    ['of all requests together', 1_999, 503, 'SERVICE_UNAVAILABLE', '1', 2],
    ['of a suspension', 90_000, 429, 'API_KEY_SUSPENDED', '300', 1],
  ])('waits at most maxWait: %s', async (_, maxWait, status, code, retryAfter, requests) => {
    const server = await ScriptedServer.start(failure(status, code, { 'Retry-After': retryAfter }));
    const error = await apiErrorOf(quickClient(server, { maxWait }).updateInventory(101n, 7));
    expect(error).toMatchObject({ code, retryAfter: expect.any(Number) });
    expect(server.requests).toHaveLength(requests);
  });
});

const big = 9223372036854775807n;
const row = `{"petId":${big},"quantity":1,"status":"sold"}`;
const done = `[{"petId":${big},"status":200,"etag":"\\"7\\"","item":${row}}]`;
const keyed = { 'if-match': '"6"', 'idempotency-key': expect.stringMatching(/^"[-0-9]{5,}"$/) };

test.each<
  [method: string, path: string, call: (store: InventoryClient) => Promise<unknown>, reply: string, sent?: object]
>([
  [
    'POST',
    `/${big}/adjustments`,
    (store) => store.adjustInventory(big, -1, { ifMatch: '"6"' }),
    row,
    { body: '{"by":-1}', headers: keyed },
  ],
  [
    'PATCH',
    `/${big}`,
    (store) => store.updateInventory(big, 7, { idempotencyKey: String.raw`a"b\c` }),
    row,
    { headers: { 'idempotency-key': String.raw`"a\"b\\c"` } },
  ],
  [
    'PATCH',
    '',
    (store) => store.updateInventories([{ petId: big, quantity: 1, ifMatch: '"6"' }]),
    done,
    { body: `[{"petId":${big},"quantity":1,"ifMatch":"\\"6\\""}]` },
  ],
  ['GET', `/${big}`, (store) => store.getInventory(big), row, {}],
  ['GET', `?petId=2,${big}`, (store) => store.getInventories([big, 2]), `[${row}]`, {}],
])('%s /inventory%s keeps all digits of its ids, there and back', async (method, path, call, text, sent) => {
  const server = await ScriptedServer.start(reply(200, text, { ETag: '"7"' }));
  const result = await call(quickClient(server));

  expect(server.requests).toMatchObject([{ method, path: `/v1/inventory${path}`, ...sent }]);
  expect('idempotency-key' in (server.requests[0]?.headers ?? {})).toBe(method !== 'GET');
  expect([result].flat()).toMatchObject([
    Array.isArray(result) ? { petId: big } : { data: { petId: big }, etag: '"7"' },
  ]);
});
