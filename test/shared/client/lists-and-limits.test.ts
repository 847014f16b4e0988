import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { parseAnswer } from '../../../shared/client/parse-answer.ts';
import { readLimits } from '../../../shared/client/limits.ts';
import { apiErrorOf, failureOf, recordingClient } from '../../support/inventory-client.ts';
import { answer, breakOff, failure, ScriptedServer, silence, type Step } from '../../support/scripted-server.ts';

const entry = { petId: 101, quantity: 7, status: 'available' };
const emptyPage = answer(200, '[]');
const remaining = (count: number): Record<string, string> => ({ 'X-RateLimit-Remaining': String(count) });

const page = (entries: readonly object[], next?: string): Step =>
  answer(200, entries, next === undefined ? {} : { Link: `</v1/inventory?limit=1&cursor=${next}>; rel="next"` });

const twenty = <T>(call: () => Promise<T>): Promise<T[]> => Promise.all(Array.from({ length: 20 }, call));

describe('a list', () => {
  test('is read page by page, each repeated by itself, empty ones passed over', async () => {
    const server = await ScriptedServer.start(
      page([entry], 'b'),
      breakOff('[{"petId":2'),
      page([], 'c-_'),
      page([{ ...entry, petId: 2 }]),
    );
    const { store } = recordingClient(server);
    const petIds = (await Array.fromAsync(store.listInventory({ limit: 1, status: 'sold' }))).map(({ petId }) => petId);
    expect(petIds).toEqual([101n, 2n]);
    expect(server.requests.map(({ path }) => path)).toEqual([
      '/v1/inventory?limit=1&status=sold',
      '/v1/inventory?limit=1&cursor=b&status=sold',
      '/v1/inventory?limit=1&cursor=b&status=sold',
      '/v1/inventory?limit=1&cursor=c-_&status=sold',
    ]);
  });

  test('has the largest pages, and can be left early', async () => {
    const server = await ScriptedServer.start(page([entry, entry], 'b'));
    for await (const { petId } of recordingClient(server).store.listInventory()) {
      expect(petId).toBe(101n);
      break;
    }
    expect(server.requests.map(({ path }) => path)).toEqual(['/v1/inventory?limit=1000']);
  });
});

describe('an answer as JSON', () => {
  test('keeps an int64 with space around it, beside fields of similar names', () => {
    const text = '{ "petId" :\n\t9007199254740993, "petIdOfOld":12,"myid":13}';
    expect(parseAnswer(text)).toEqual({ petId: 9007199254740993n, petIdOfOld: 12, myid: 13 });
  });

  test.each([
    '{"petId":1e3}',
    String.raw`{"pet\u0049d":9007199254740993}`,
    '{"petId":"Rex"}',
    '{"petId":9223372036854775808}',
    '[{"petId":1}',
  ])('is refused where an int64 is none: %s', (text) => {
    expect(() => parseAnswer(text)).toThrow(SyntaxError);
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
        expect(parseAnswer(text)).toEqual(list);
      }),
    );
  });
});

describe('the limit headers of an answer', () => {
  const NOW = 1_795_253_249_600;
  const least = { 'X-RateLimit-Limit': '60', 'X-RateLimit-Remaining': '58', 'X-RateLimit-Reset': '1795253280' };
  const minute = { limit: 60, remaining: 58, reset: new Date(1_795_253_280_000) };
  const day = { limit: 1_000, remaining: 997, reset: new Date(1_795_257_250_000) };

  test.each([
    [
      'them in another order',
      '"minute" ; w=60; q=60,"day";q=1000',
      '"day";t=4000;r=997 ,"minute";t=30;r=58',
      { minute, day },
    ],
    ['more than is known', '"minute";q=60;qu="requests"', '"minute";r=58;t=30;x', { minute, day: undefined }],
    ['nonsense', '"minute', '"minute";r=-1;t=x', { minute: undefined, day: undefined }],
  ])('name %s', (_, policies, states, windows) => {
    const headers = new Headers({ ...least, 'RateLimit-Policy': policies, RateLimit: states });
    expect(readLimits(headers, NOW)).toEqual({ ...minute, ...windows });
  });

  test('are missing where one is no number', () => {
    expect(readLimits(new Headers({ ...least, 'X-RateLimit-Reset': 'soon' }))).toBeUndefined();
  });

  test('are those of the latest answer', async () => {
    const server = await ScriptedServer.start(
      answer(200, '[]', remaining(9)),
      failure(404, 'PET_NOT_FOUND', remaining(8)),
    );
    const { store } = recordingClient(server);
    expect(store.limits).toBeUndefined();
    const { limits } = await store.listInventoryPage({ limit: 1 });
    expect(limits).toMatchObject({ limit: 60, remaining: 9 });
    await apiErrorOf(store.getPet(1n));
    expect(store.limits).toMatchObject({ limit: 60, remaining: 8 });
  });
});

describe('calls side by side', () => {
  test.each([
    ['the client may have', 3, 59],
    ['the limits have room for', 8, 2],
  ])('are no more at a time than %s', async (_, maxConcurrent, left) => {
    const server = await ScriptedServer.start((response, request) => {
      setTimeout(() => answer(200, '[]', remaining(left))(response, request), 5);
    });
    const { store } = recordingClient(server, { maxConcurrent });
    await twenty(() => store.listInventoryPage({ limit: 1 }));
    const mostAtOnce = Math.min(maxConcurrent, left);
    expect({ requests: server.requests.length, mostAtOnce: server.mostAtOnce }).toEqual({ requests: 20, mostAtOnce });
  });

  test('begin with one request, and send no other during a suspension', async () => {
    const [code, retryAfter] = ['API_KEY_SUSPENDED', '300'];
    const server = await ScriptedServer.start(failure(429, code, { 'Retry-After': retryAfter, ...remaining(0) }));
    const { store } = recordingClient(server);
    const errors = await twenty(() => apiErrorOf(store.listInventoryPage({ limit: 1 })));
    expect(server.requests).toHaveLength(1);
    expect(new Set(errors).size).toBe(20);
    for (const error of errors) {
      expect(error).toMatchObject({ code, status: 429, message: `This is ${code}.` });
      expect(error.retryAfter).toBeLessThanOrEqual(Number(retryAfter));
      expect(error.retryAfter).toBeGreaterThan(Number(retryAfter) - 30);
    }
  });

  test('wait for the end of a refusal that another call has met', async () => {
    const refusal = failure(429, 'RATE_LIMIT_EXCEEDED', { 'Retry-After': '1', ...remaining(0) });
    const server = await ScriptedServer.start(refusal, emptyPage);
    const { store } = recordingClient(server, { maxRetries: 0 });
    expect(await apiErrorOf(store.listInventoryPage({ limit: 1 }))).toMatchObject({ retryAfter: 1 });
    expect(await store.listInventoryPage({ limit: 1 })).toMatchObject({ data: [] });
    expect(server.requests).toHaveLength(2);
  });
});

describe('a call that is aborted', () => {
  const reason = new Error('Enough');

  test.each([
    ['before it begins', emptyPage, 0],
    ['while it waits for an answer', silence, 1],
    ['during a pause', failure(503, 'SERVICE_UNAVAILABLE', { 'Retry-After': '60' }), 1],
  ])('%s throws the reason', async (_, step, requests) => {
    const controller = new AbortController();
    const onRetry = (): void => controller.abort(reason);
    const server = await ScriptedServer.start((response, request) => {
      step(response, request);
      if (step === silence) controller.abort(reason);
    });
    if (requests === 0) controller.abort(reason);
    const { store } = recordingClient(server, { onRetry });
    expect(await failureOf(Array.fromAsync(store.listOrders({ signal: controller.signal })))).toBe(reason);
    expect(server.requests).toHaveLength(requests);
  });

  test('in the queue lets the others pass', async () => {
    const controller = new AbortController();
    const server = await ScriptedServer.start((response, request) => {
      controller.abort(reason);
      emptyPage(response, request);
    }, emptyPage);
    const { store } = recordingClient(server, { maxConcurrent: 1 });
    const first = store.listInventoryPage({ limit: 1 });
    const thrown = failureOf(store.listInventoryPage({ limit: 2, signal: controller.signal }));
    const third = store.listInventoryPage({ limit: 3 });
    expect(await thrown).toBe(reason);
    expect(await Promise.all([first, third])).toMatchObject([{ data: [] }, { data: [] }]);
    expect(server.requests.map(({ path }) => path)).toEqual(['/v1/inventory?limit=1', '/v1/inventory?limit=3']);
  });
});
