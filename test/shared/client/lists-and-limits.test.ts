import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { parseResponse } from '../../../shared/client/parse-response.ts';
import {
  apiErrorOf,
  failureOf,
  quickClient,
  reply,
  breakOff,
  failure,
  ScriptedServer,
  silence,
  type Step,
} from './scripted-server.ts';

const entry = { petId: 101, quantity: 7, status: 'available' };
const emptyPage = reply(200, '[]');

const page = (entries: readonly object[], next?: string): Step =>
  reply(200, entries, next === undefined ? {} : { Link: `</v1/inventory?limit=1&cursor=${next}>; rel="next"` });

describe('a list', () => {
  test('is read in one request, which is retried as a whole', async () => {
    const server = await ScriptedServer.start(breakOff('[{"petId":2'), page([entry, { ...entry, petId: 102 }]));
    const store = quickClient(server);
    const items = await Array.fromAsync(store.listInventory({ status: 'sold' }));

    expect(items.map(({ petId }) => petId)).toEqual([101n, 102n]);
    expect(await Array.fromAsync(store.listOrders())).toHaveLength(2);
    const paths = ['/v1/inventory?status=sold', '/v1/inventory?status=sold', '/v1/store/orders'];
    expect(server.requests.map(({ path }) => path)).toEqual(paths);
  });

  test('can be read in pages, by cursors', async () => {
    const server = await ScriptedServer.start(page([], 'c-_'), page([entry]));
    const store = quickClient(server);
    const first = await store.listInventoryPage({ limit: 1, status: 'sold' });
    expect(first).toMatchObject({ data: [], next: 'c-_' });
    const last = await store.listInventoryPage({ limit: 1, status: 'sold', cursor: first.next });

    expect(last).toMatchObject({ data: [{ petId: 101n }], next: undefined });
    const paths = ['/v1/inventory?limit=1&status=sold', '/v1/inventory?limit=1&cursor=c-_&status=sold'];
    expect(server.requests.map(({ path }) => path)).toEqual(paths);
  });
});

describe('a response as JSON', () => {
  test.each([
    '{"petId":1e3}',
    String.raw`{"pet\u0049d":9007199254740993}`,
    '{"petId":"Rex"}',
    '{"petId":9223372036854775808}',
    '[{"petId":1}',
  ])('is refused if an id is no int64: %s', (text) => {
    expect(() => parseResponse(text)).toThrow(SyntaxError);
  });

  test('keeps every int64 and every string', () => {
    const int64 = fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n);
    const name = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('"petId":1', '\\"id":2,', '{"id":3}'));
    const pets = fc.array(fc.record({ petId: int64, name, tags: fc.array(fc.record({ id: int64, name })) }));
    fc.assert(
      fc.property(pets, (list) => {
        const text = JSON.stringify(list, (_, value: unknown) =>
          typeof value === 'bigint' ? JSON.rawJSON(String(value)) : value,
        );
        expect(parseResponse(text)).toEqual(list);
      }),
    );
  });
});

const refusal = (seconds: string): Step => failure(429, 'RATE_LIMIT_EXCEEDED', { 'Retry-After': seconds });

describe('the limits of a response', () => {
  test('are those of its headers, or undefined if one is no number', async () => {
    const server = await ScriptedServer.start(emptyPage, reply(200, '[]', { 'X-RateLimit-Reset': 'soon' }));
    const store = quickClient(server);
    const limits = { limit: 60, remaining: 59, reset: new Date(1_795_253_280_000) };
    expect(await store.listInventoryPage({ limit: 1 })).toMatchObject({ limits });
    expect(await store.listInventoryPage({ limit: 1 })).toMatchObject({ limits: undefined });
  });

  test('are also on an error, unless they are unknown', async () => {
    const unknown = { 'X-RateLimit-Limit': '0', 'X-RateLimit-Remaining': '0', 'X-RateLimit-Reset': '0' };
    const refused = failure(429, 'TOO_MANY_REQUESTS', { ...unknown, 'Retry-After': '0' });
    const server = await ScriptedServer.start(failure(404, 'PET_NOT_FOUND'), refused);
    const store = quickClient(server, { maxRetries: 0 });
    expect(await apiErrorOf(store.getInventory(1n))).toMatchObject({ limits: { limit: 60, remaining: 59 } });
    expect(await apiErrorOf(store.getInventory(1n))).toMatchObject({ limits: undefined, retryAfter: 0 });
  });

  test('delay or reject the calls after a refusal', async () => {
    const server = await ScriptedServer.start(refusal('1'), emptyPage, refusal('300'));
    const store = quickClient(server, { maxRetries: 0 });
    const begin = performance.now();
    expect(await apiErrorOf(store.listInventoryPage({ limit: 1 }))).toMatchObject({ retryAfter: 1 });
    expect(await store.listInventoryPage({ limit: 1 })).toMatchObject({ data: [] });
    expect(performance.now() - begin).toBeGreaterThan(990);
    for (let call = 0; call < 3; call++)
      expect(await apiErrorOf(store.listInventoryPage({ limit: 1 }))).toMatchObject({ retryAfter: 300 });
    expect(server.requests).toHaveLength(3);
  });
});

describe('a call that is aborted', () => {
  const reason = new Error('Enough');

  test.each([
    ['before it begins', emptyPage, 0],
    ['while it waits for a response', silence, 1],
    ['during a pause', failure(503, 'SERVICE_UNAVAILABLE', { 'Retry-After': '60' }), 1],
  ])('%s throws the reason', async (_, step, requests) => {
    const controller = new AbortController();
    const server = await ScriptedServer.start((response, request) => {
      step(response, request);
      setTimeout(() => controller.abort(reason), 20);
    });
    if (requests === 0) controller.abort(reason);
    const store = quickClient(server);
    expect(await failureOf(Array.fromAsync(store.listOrders({ signal: controller.signal })))).toBe(reason);
    expect(server.requests).toHaveLength(requests);
  });
});
