import { beforeEach, describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import type {
  BatchOptions,
  InventoryClient,
  InventoryUpdateRow,
} from '../../../shared/client/pet-store-inventory-client.ts';
import { parseResponse, readLimits } from '../../../shared/client/parse-response.ts';
import {
  breakOff,
  clientOf,
  entry,
  failure,
  hangUp,
  type SentRequest,
  repeat,
  reply,
  type Step,
} from './scripted-fetch.ts';
import { inVirtualTime, useVirtualTime } from './held-calls.ts';
import { failureOf } from './scripted-server.ts';

useVirtualTime();

const page = (entries: readonly object[], next?: string): Step =>
  reply(200, entries, next === undefined ? {} : { Link: `</v1/inventory?limit=1&cursor=${next}>; rel="next"` });

const pathsOf = (requests: readonly SentRequest[]): string[] => requests.map(({ path }) => path);

describe('A list', () => {
  test('is read with one request, which is repeated as a whole', async () => {
    const order = { ...entry, id: 1, complete: true };
    const { store, requests } = clientOf([breakOff(), page([order, { ...order, petId: 102 }])]);

    expect(await inVirtualTime(Array.fromAsync(store.listInventory({ status: 'sold' })), 0)).toMatchObject([
      { petId: 101n },
      { petId: 102n },
    ]);
    expect(await Array.fromAsync(store.listOrders())).toHaveLength(2);
    expect(pathsOf(requests)).toEqual([...repeat(2, '/v1/inventory?status=sold'), '/v1/store/orders']);
  });

  test('can be read by pages, each with the cursor of the next', async () => {
    const { store, requests } = clientOf([page([], 'c-_'), page([entry])]);
    const first = await store.listInventoryPage({ limit: 1, status: 'sold' });
    const last = await store.listInventoryPage({ limit: 1, status: 'sold', cursor: first.next });

    expect([first, last]).toMatchObject([
      { data: [], next: 'c-_' },
      { data: [{ petId: 101n }], next: undefined },
    ]);
    const query = '/v1/inventory?limit=1';
    expect(pathsOf(requests)).toEqual([`${query}&status=sold`, `${query}&cursor=c-_&status=sold`]);
  });
});

test.each([
  [{ Limit: '60', Remaining: '0', Reset: 'soon' }],
  [{ Limit: '60', Remaining: '0' }],
  [{ Limit: '0', Remaining: '0', Reset: '0' }],
])('The limits of a response are unknown with X-RateLimit %j', (values) => {
  const headers = Object.entries(values).map(([name, value]): [string, string] => [`X-RateLimit-${name}`, value]);

  expect(readLimits(new Headers(headers))).toBeUndefined();
});

describe('The JSON of a response', () => {
  test.each(['{"petId":1e3}', '{"petId":"Rex"}', '{"petId":9223372036854775808}', '[{"petId":1}'])(
    'is refused if it is malformed or an int64 field has no int64: %s',
    (text) => {
      expect(() => parseResponse(text, {})).toThrow(SyntaxError);
    },
  );

  test('keeps every int64 and every string', () => {
    const int64 = fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n);
    const name = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('"petId":1', '\\"id":2,', '{"id":3}'));
    const pets = fc.array(fc.record({ petId: int64, name, tags: fc.array(fc.record({ id: int64, name })) }));
    fc.assert(
      fc.property(pets, (list) => {
        const text = JSON.stringify(list, (_, value: unknown) =>
          typeof value === 'bigint' ? JSON.rawJSON(String(value)) : value,
        );
        expect(parseResponse(text, [{}])).toEqual(list);
      }),
    );
  });
});

const range = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

/** The number of petIds in each request, the request with the lowest one first. */
const sizesOf = (requests: readonly SentRequest[]): number[] =>
  requests
    .map(({ path, body }) => (body || path).match(/(?<=petId":|=|,)\d+/g) ?? [])
    .toSorted(([one], [other]) => Number(one) - Number(other))
    .map(({ length }) => length);

test('The stock of pets is read 100 at a time, each once, in ascending order', async () => {
  const { store, requests } = clientOf((request) => {
    const petIds = request.path.split('=')[1]?.split(',') ?? [];
    const items = petIds.map((petId) => ({ petId: Number(petId), quantity: 1, status: 'sold' }));
    return reply(200, items)(request);
  });
  const items = await store.getInventories([...range(205).toReversed(), 7n, 7]);

  expect(items.map(({ petId }) => Number(petId))).toEqual(range(205));
  expect(sizesOf(requests)).toEqual([100, 100, 5]);
  expect(await store.getInventories([])).toEqual([]);
  expect(requests).toHaveLength(3);
});

type Outcome = { readonly status: number; readonly code?: string };

/** Responds to a row with its next outcome, then with 200; to a request with pet 26 with the step, if there is one. */
const batchScript =
  (outcomes: Readonly<Record<number, Outcome[]>>, ofPet26?: Step): Step =>
  (request) => {
    const rows: { petId: number; quantity: number }[] = JSON.parse(request.body);
    if (ofPet26 && rows.some(({ petId }) => petId === 26)) return ofPet26(request);
    const results = rows.map(({ petId, quantity }) => {
      const { status, code } = outcomes[petId]?.shift() ?? { status: 200 };
      if (code !== undefined) return { petId, status, error: { code, message: '', status } };
      return { petId, status, etag: '"1"', item: { petId, quantity, status: 'sold' } };
    });
    return reply(200, results)(request);
  };

const update = (store: InventoryClient, rows: readonly InventoryUpdateRow[], options?: BatchOptions) =>
  inVirtualTime(store.updateInventories(rows, options), 0);

const rowsOf = (petIds: readonly number[]) => petIds.map((petId) => ({ petId, quantity: 1 }));

const idempotencyKeysOf = (requests: readonly SentRequest[]) =>
  requests.map(({ headers }) => headers['idempotency-key']);

const unwritten = { status: 503, code: 'SERVICE_UNAVAILABLE' };
const unknown = { status: 503, code: 'UPDATE_OUTCOME_UNKNOWN' };
const stale = { status: 412, code: 'PRECONDITION_FAILED' };

describe('A batch update', () => {
  test('sends 25 rows per request, and returns the results in order', async () => {
    const { store, requests } = clientOf(batchScript({ 30: [{ status: 404, code: 'PET_NOT_FOUND' }] }));
    const results = await update(store, rowsOf(range(51)));

    expect(results.map(({ petId }) => Number(petId))).toEqual(range(51));
    expect(results.filter(({ status }) => status !== 200)).toMatchObject([{ petId: 30n, status: 404 }]);
    expect(sizesOf(requests)).toEqual([25, 25, 1]);
    expect(await update(store, [])).toEqual([]);
  });

  test.each([
    ['a row that was surely not written', unwritten, undefined, [2, 1, 1], { status: 200, outcome: 'applied' }],
    ['a row that may have been, with an Idempotency-Key', unknown, 'mine', [2, 1, 1], { outcome: 'applied' }],
    ['no row that may have been, without one', unknown, undefined, [2], { status: 503, outcome: 'unknown' }],
    ['no row with a stale version', stale, 'mine', [2], { status: 412, outcome: 'not-applied' }],
  ])('retries %s', async (_, row, idempotencyKey, sizes, result) => {
    const { store, requests } = clientOf(batchScript({ 1: [row, row] }));
    const results = await update(store, rowsOf([1, 2]), { idempotencyKey });

    expect(results).toMatchObject([result, { status: 200, outcome: 'applied' }]);
    expect(sizesOf(requests)).toEqual(sizes);
    expect([...new Set(idempotencyKeysOf(requests))]).toEqual([idempotencyKey && `"${idempotencyKey}"`]);
  });

  test('retries rows at most maxRetries times, after a pause', async () => {
    const { store, requests } = clientOf(batchScript({ 1: repeat(9, unwritten) }), { retryDelay: 1_000 });
    const begin = performance.now();
    const results = await update(store, rowsOf([1, 2]), { maxRetries: 1 });

    // Half of the delay at least, beyond the interval of batches.
    expect(performance.now() - begin).toBeGreaterThan(490);
    expect(results).toMatchObject([{ status: 503, outcome: 'not-applied' }, { status: 200 }]);
    expect(requests).toHaveLength(2);
  });

  test('has the same Idempotency-Key in all requests with a condition, and none in others', async () => {
    const { store, requests } = clientOf(batchScript({}));
    const withVersion = { petId: 101, quantity: 1, ifMatch: '"1"' };
    const withQuantity = { petId: 102, quantity: 1, ifQuantity: 0 };
    await update(store, [withVersion, ...rowsOf(range(50)), withQuantity]);

    const keys = idempotencyKeysOf(requests);
    expect(keys.filter((key) => key !== undefined)).toHaveLength(2);
    expect(new Set(keys).size).toBe(2);
  });

  let controller = new AbortController();
  beforeEach(() => void (controller = new AbortController()));

  test.each<[string, Step | Step[], outcome: string, status: number | undefined, error: object]>([
    ['has an error', failure(500, 'INTERNAL_ERROR'), 'not-applied', 500, { code: 'INTERNAL_ERROR' }],
    ['is denied', failure(401, 'API_KEY_INVALID'), 'not-applied', 401, { code: 'API_KEY_INVALID' }],
    ['times out at the gateway', failure(504, 'GATEWAY_TIMEOUT'), 'unknown', 504, { code: 'GATEWAY_TIMEOUT' }],
    ['gets no response', hangUp, 'unknown', undefined, { name: 'ConnectionError', reason: 'network' }],
    ['is denied after a lost response', [hangUp, failure(401, 'OTHER')], 'unknown', 401, { code: 'OTHER' }],
    ['has JSON of another shape', reply(200, {}), 'unknown', undefined, { reason: 'unreadable' }],
    ['is aborted', () => Promise.reject(controller.abort('Enough')), 'unknown', undefined, { cause: 'Enough' }],
    ['has no result of a row', reply(200, []), 'unknown', undefined, { reason: 'unreadable' }],
  ])('keeps the results of the other requests if one %s', async (_, script, outcome, status, error) => {
    const steps = [script].flat();
    const step: Step = (request) => ((steps.length > 1 ? steps.shift() : steps[0]) ?? hangUp)(request);
    const { store } = clientOf(batchScript({}, step), { maxRetries: steps.length - 1 });
    const results = await update(store, rowsOf(range(27)), controller);

    const failed = { outcome, status, error };
    const others = repeat(25, { outcome: 'applied', status: 200 });
    expect(results).toMatchObject([...others, { petId: 26n, ...failed }, { petId: 27n, ...failed }]);
  });

  test('has an unknown outcome for a row that fails after a lost response', async () => {
    const { store } = clientOf([hangUp, batchScript({ 1: [unwritten, unwritten] })], { maxRetries: 1 });
    const results = await update(store, rowsOf([1, 2]));

    expect(results).toMatchObject([{ status: 503, outcome: 'unknown' }, { outcome: 'applied' }]);
  });

  test.each<[string, object]>([
    ['quantity must be an integer from 0 to 2147483647, not -1', { quantity: -1 }],
    ['quantity must be an integer from 0 to 2147483647, not undefined', { quantity: undefined }],
    ['ifQuantity must be an integer from 0 to 2147483647, not undefined', { ifQuantity: undefined }],
    ['ifMatch must be the ETag of an entry', { ifMatch: undefined }],
    ['petId must be a bigint', { petId: 2 ** 53 }],
    ['status is no field of an update', { status: 'sold' }],
  ])('is checked before its first request, with the row numbers of the call: %s', async (message, fault) => {
    const { store, requests } = clientOf(batchScript({}));
    const rows = rowsOf(range(29)).with(27, { petId: 28, quantity: 1, ...fault });

    expect(String(await failureOf(update(store, rows)))).toContain(`TypeError: Row 28: ${message}`);
    expect(String(await failureOf(update(store, rowsOf([1, 1]))))).toContain('A petId has several rows');
    expect(requests).toEqual([]);
  });
});
