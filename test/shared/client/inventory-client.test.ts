import { inspect } from 'node:util';
import { describe, expect, jest, test } from '@jest/globals';
import { InventoryClient, InventoryClientError } from '../../../shared/client/pet-store-inventory-client.ts';
import { check } from '../../../shared/client/check-arguments.ts';
import { inVirtualTime, timeOut, useVirtualTime } from './held-calls.ts';
import { breakOff, clientOf, entry, failure, good, hangUp, reply, SECRET_KEY, type Step } from './scripted-fetch.ts';
import { failureOf, ScriptedServer, type ServerStep } from './scripted-server.ts';

const expectNoKey = (value: unknown): void =>
  expect(inspect(value, { depth: Infinity, showHidden: true, getters: true })).not.toContain(SECRET_KEY);

const unavailable = failure(503, 'SERVICE_UNAVAILABLE');

describe('An option', () => {
  test.each<[name: string, ...values: unknown[]]>([
    ['baseUrl', undefined, 'ftp://x.test/v1', 'https://me:you@x.test/v1', 'http://x.test:99999/v1', 'http://[::1/v1'],
    ['apiKey', undefined, '', `${SECRET_KEY}\n`],
    ['timeout', -1, 0, 0.5, NaN, Infinity, 2 ** 31],
    ['concurrency', 0, '10', NaN],
    ['maxRetries', -1, NaN, null],
    ['maxQueueTime', -1, NaN],
    ['maxWait', -1],
    ['retryDelay', -5, 0],
    ['ifMatch', '6', '"a\n"', '"€"', 'W/"6"'],
    ['idempotencyKey', '', 'x'.repeat(256), 5],
  ])('%s that is invalid is refused with its value', (name, ...values) => {
    for (const value of values) {
      const shown = typeof value === 'string' ? JSON.stringify(value.replace('me:you@', '…@')) : String(value);
      const end = name === 'apiKey' ? '' : `, not ${shown}`;
      const message = new RegExp(`^${name} must be [^@\\n]*${RegExp.escape(end)}$`);
      expect(() =>
        check(
          { [name]: value },
          ['baseUrl', 'apiKey'].filter((one) => one === name),
        ),
      ).toThrow(message);
    }
  });

  const invalid = { timeout: 0 };

  test.each<[string, (store: InventoryClient) => unknown]>([
    ['the client', () => new InventoryClient({ baseUrl: 'https://x.test', apiKey: '' })],
    ['an update', (store) => store.updateInventory(1n, 7, { ifMatch: undefined })],
    ['a batch', (store) => store.updateInventories([], invalid)],
    ['another call', (store) => store.getKey(invalid)],
  ])('of %s that is invalid is refused before a request', async (_, call) => {
    const { store, requests } = clientOf(good);

    await expect(Promise.try(call, store)).rejects.toThrow(TypeError);
    expect(requests).toEqual([]);
  });
});

describe('A request', () => {
  test('has the API key that the function of the options returns for it', async () => {
    const broken = new Error('The vault is closed');
    const keys = ['psk_first', 'psk_second', `${SECRET_KEY}\n`];
    const apiKey = async () => keys.shift() ?? Promise.reject(broken);
    const { store, requests } = clientOf([unavailable, good], { apiKey });
    await store.getInventory(101n);

    const sent = requests.map(({ headers }) => headers.authorization);
    expect(sent).toEqual(['Bearer psk_first', 'Bearer psk_second']);
    const invalid = await failureOf(store.getInventory(101n));
    expect(invalid).toBeInstanceOf(TypeError);
    expectNoKey(invalid);
    expect(await failureOf(store.getInventory(101n))).toBe(broken);
  });
});

const limits = { limit: 60, remaining: 59, reset: new Date(1_795_253_280_000) };
const anyKey = expect.stringMatching(/^"[-0-9]{5,}"$/);

describe('An update', () => {
  test('is the same in all requests, with the same Idempotency-Key, which the next call does not have', async () => {
    const replied = reply(200, entry, { ETag: '"7"', 'x-amzn-RequestId': 'request-1' });
    const { store, requests } = clientOf([hangUp, unavailable, replied]);
    const updated = await store.updateInventory(101n, 7, { ifMatch: '"6"' });
    expect(updated).toMatchObject({ data: { ...entry, petId: 101n }, limits, etag: '"7"', requestId: 'request-1' });
    expect(updated.response.headers.get('ETag')).toBe('"7"');
    const [first] = requests;
    expect(first).toMatchObject({
      method: 'PATCH',
      path: '/v1/inventory/101',
      body: '{"quantity":7}',
      headers: {
        authorization: `Bearer ${SECRET_KEY}`,
        'content-type': 'application/json',
        'if-match': '"6"',
        'idempotency-key': anyKey,
      },
    });
    expect(requests).toEqual([first, first, first]);
    await store.updateInventory(101n, { quantity: 7 });
    expect(requests[3]?.body).toBe(first?.body);
    expect(requests[3]?.headers['idempotency-key']).not.toBe(first?.headers['idempotency-key']);
  });

  test.each([2 ** 53, 1.5, 2n ** 63n])('of the petId %s is not sent', async (petId) => {
    const { store, requests } = clientOf(good);

    expect(String(await failureOf(store.updateInventory(petId, 7)))).toContain('TypeError: petId must be');
    expect(requests).toEqual([]);
  });
});

describe('A request that fails', () => {
  useVirtualTime();
  const soon = { 'Retry-After': '0' };
  const conflict = failure(412, 'PRECONDITION_FAILED', { ETag: '"8"', 'x-amzn-RequestId': 'r', 'Retry-After': '5' });
  const error = { code: 'PRECONDITION_FAILED', message: 'This is PRECONDITION_FAILED.', status: 412 };
  const precise = { ...error, etag: '"8"', requestId: 'r', retryAfter: 5 };

  const dates = { Date: 'Sat, 21 Nov 2026 09:30:00 GMT', 'Retry-After': 'Sat, 21 Nov 2026 09:31:30 GMT' };
  const dated = failure(501, 'OTHER', dates);

  test.each<[string, requests: number, Step, object]>([
    ['429', 3, failure(429, 'RATE_LIMIT_EXCEEDED', soon), { name: 'ApiError', code: 'RATE_LIMIT_EXCEEDED' }],
    ['503', 3, failure(503, 'SERVICE_UNAVAILABLE', soon), { status: 503, limits, retryAfter: 0 }],
    ['no response', 3, timeOut, { name: 'ConnectionError', reason: 'timeout' }],
    ['a truncated response', 3, breakOff(), { reason: 'truncated' }],
    ['malformed JSON', 1, reply(200, '{'), { reason: 'unreadable' }],
    ['JSON of another shape', 1, reply(200, { petId: 101, quantity: '7', status: 'sold' }), { reason: 'unreadable' }],
    ['a date to retry after', 1, dated, { code: 'OTHER', retryAfter: 90 }],
    ['an invalid time', 1, failure(501, 'OTHER', { 'Retry-After': 'x GMT' }), { retryAfter: undefined }],
    ['HTML', 1, reply(404, '<html>'), { name: 'ApiError', code: 'UNEXPECTED_RESPONSE', status: 404 }],
    ['412', 1, conflict, precise],
    ['501', 1, failure(501, 'OTHER', soon), { status: 501 }],
  ])('with %s is sent %i times, and its error never shows the key', async (_, count, step, expected) => {
    const { store, requests } = clientOf(step, { maxRetries: 9, timeout: 60_000 });
    const call = store.updateInventory(101n, 7, { maxRetries: 2, timeout: 300 });
    const thrown = await inVirtualTime(failureOf(call), 0);

    expect(thrown).toMatchObject(expected);
    expect(requests).toHaveLength(count);
    expect(jest.spyOn(AbortSignal, 'timeout')).toHaveBeenLastCalledWith(300);
    expect(thrown).toBeInstanceOf(InventoryClientError);
    for (const value of [store, thrown]) expectNoKey(value);
  });

  test.each([
    ['fetch failed', undefined, 'ConnectionError', /^GET .+ \(network\): fetch failed$/],
    ['Failed to fetch', undefined, 'ConnectionError', /^GET .+ \(network\): Failed to fetch$/],
    ['fetch failed', new Error('refused'), 'ConnectionError', /: fetch failed: refused$/],
    ['fetch failed', new Error('bad port'), 'TypeError', /^fetch failed$/],
    ['proxy is undefined', undefined, 'TypeError', /^proxy is undefined$/],
  ])('for the TypeError "%s" of fetch with the cause %s has a %s', async (message, cause, name, shown) => {
    const broken: Step = () => Promise.reject(new TypeError(message, { cause }));
    const { store } = clientOf(broken, { maxRetries: 0 });

    await expect(store.getInventory(101n)).rejects.toMatchObject({ name, message: expect.stringMatching(shown) });
  });

  test('has an error whose JSON has its code and message, and no response', async () => {
    const { store } = clientOf(conflict);
    const thrown = await failureOf(store.updateInventory(101n, 7));

    expect(JSON.parse(JSON.stringify(thrown))).toEqual(precise);
  });

  test.each([
    ['of one request', 1_999, 503, 'SERVICE_UNAVAILABLE', '2', 1],
    ['of all requests together', 1_999, 503, 'SERVICE_UNAVAILABLE', '1', 2],
    ['of a suspension', 90_000, 429, 'API_KEY_SUSPENDED', '300', 1],
  ])('is not repeated if Retry-After %s is longer than maxWait', async (_, maxWait, status, code, retryAfter, sent) => {
    const { store, requests } = clientOf(failure(status, code, { 'Retry-After': retryAfter }), { maxWait });

    const thrown = await inVirtualTime(failureOf(store.updateInventory(101n, 7)), 0);
    expect(thrown).toMatchObject({ code, retryAfter: expect.any(Number) });
    expect(requests).toHaveLength(sent);
  });

  test.each<[string, ServerStep, object]>([
    ['is closed', (response) => response.destroy(), { reason: 'network' }],
    ['breaks', (response) => response.write('{', () => response.destroy()), { reason: 'truncated' }],
    ['is silent', timeOut, { reason: 'timeout' }],
    ['redirects', (response) => response.writeHead(307, { Location: '/v2' }).end(), { status: 307 }],
  ])('as its connection %s has an error with the reason', async (_, step, expected) => {
    const { baseUrl } = await ScriptedServer.start(step);
    const store = new InventoryClient({ baseUrl, apiKey: SECRET_KEY, maxRetries: 0 });

    expect(await failureOf(store.getInventory(101n))).toMatchObject(expected);
  });
});

const big = 9223372036854775807n;
const row = `{"petId":${big},"quantity":1,"status":"sold"}`;
const done = `[{"petId":${big},"status":200,"etag":"\\"7\\"","item":${row}}]`;

type Sent = { readonly method: string; readonly path: string; readonly body?: string; readonly headers?: object };

test.each<[Sent, (store: InventoryClient) => Promise<unknown>, reply: string]>([
  [
    {
      method: 'POST',
      path: `/${big}/adjustments`,
      body: '{"by":-1}',
      headers: { 'if-match': '"6"', 'idempotency-key': anyKey },
    },
    (store) => store.adjustInventory(big, -1, { ifMatch: '"6"' }),
    row,
  ],
  [
    { method: 'PATCH', path: `/${big}`, headers: { 'idempotency-key': String.raw`"a\"b\\c"` } },
    (store) => store.updateInventory(big, 7, { idempotencyKey: String.raw`a"b\c` }),
    row,
  ],
  [
    { method: 'PATCH', path: '', body: `[{"petId":${big},"quantity":1,"ifMatch":"\\"6\\""}]` },
    (store) => store.updateInventories([{ petId: big, quantity: 1, ifMatch: '"6"' }]),
    done,
  ],
  [{ method: 'GET', path: `/${big}` }, (store) => store.getInventory(big), row],
  [{ method: 'GET', path: `?petId=2,${big}` }, (store) => store.getInventories([big, 2]), `[${row}]`],
])('%j keeps all digits of ids in request and response', async (sent, call, text) => {
  const { store, requests } = clientOf(reply(200, text, { ETag: '"7"' }));
  const result = await call(store);

  expect(requests).toMatchObject([{ ...sent, path: `/v1/inventory${sent.path}` }]);
  expect('idempotency-key' in (requests[0]?.headers ?? {})).toBe(sent.method !== 'GET');
  expect([result].flat()).toMatchObject([
    Array.isArray(result) ? { petId: big } : { data: { petId: big }, etag: '"7"' },
  ]);
});
