import { describe, expect, test } from '@jest/globals';
import { failure, hangUp, quickClient, reply, ScriptedServer, type Step } from './scripted-server.ts';

/** The petIds of requests, in the order of their first ones. */
const sentIds = (server: ScriptedServer): string[][] =>
  server.requests
    .map(({ path, body }) => [...(body || path).matchAll(/(?<=petId":|=|,)\d+/g)].map(String))
    .toSorted(([one], [other]) => Number(one) - Number(other));

const range = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

const listed: Step = (response, request) => {
  const petIds = request.path.split('=')[1]?.split(',') ?? [];
  const items = petIds.map((petId) => ({ petId: Number(petId), quantity: 1, status: 'sold' }));
  reply(200, items)(response, request);
};

describe('the stock of pets', () => {
  test('is read in requests of 100, each pet once, in ascending order', async () => {
    const server = await ScriptedServer.start(listed);
    const petIds = range(205);
    const items = await quickClient(server).getInventories([...petIds.toReversed(), 7n, 7]);

    expect(items.map(({ petId }) => Number(petId))).toEqual(petIds);
    expect(sentIds(server).map((ids) => ids.length)).toEqual([100, 100, 5]);
  });

  test('is empty for no pets, without a request', async () => {
    const server = await ScriptedServer.start(listed);

    expect(await quickClient(server).getInventories([])).toEqual([]);
    expect(server.requests).toEqual([]);
  });
});

type Outcome = { readonly status: number; readonly code?: string };

/** Responds to a row with its next outcome, then with 200; to a request with the `broken` pet with its step. */
function batchServer(outcomes: Readonly<Record<number, Outcome[]>>, broken?: readonly [number, Step]) {
  return ScriptedServer.start((response, request) => {
    const rows: { petId: number; quantity: number }[] = JSON.parse(request.body);
    if (broken && rows.some(({ petId }) => petId === broken[0])) return broken[1](response, request);
    const results = rows.map(({ petId, quantity }) => {
      const { status, code } = outcomes[petId]?.shift() ?? { status: 200 };
      const item = { petId, quantity, status: 'sold' };
      return status === 200
        ? { petId, status, etag: '"1"', item }
        : { petId, status, error: { code, message: '', status } };
    });
    return reply(200, results)(response, request);
  });
}

const rowsOf = (petIds: readonly number[]) => petIds.map((petId) => ({ petId, quantity: 1 }));

const unwritten = { status: 503, code: 'SERVICE_UNAVAILABLE' };
const unknown = { status: 503, code: 'UPDATE_OUTCOME_UNKNOWN' };

describe('a batch update', () => {
  test('is split into 25 rows per request, and has its results in order', async () => {
    const server = await batchServer({ 30: [{ status: 404, code: 'PET_NOT_FOUND' }] });
    const results = await quickClient(server).updateInventories(rowsOf(range(51)));

    expect(results.map(({ petId }) => Number(petId))).toEqual(range(51));
    expect(results.filter(({ status }) => status !== 200)).toMatchObject([{ petId: 30n, status: 404 }]);
    expect(sentIds(server).map((ids) => ids.length)).toEqual([25, 25, 1]);
    expect(await quickClient(server).updateInventories([])).toEqual([]);
  });

  test.each([
    ['rows that were not written', unwritten, undefined, [2, 1, 1], 200],
    ['rows that may have been written, with a key', unknown, 'mine', [2, 1, 1], 200],
    ['no rows that may have been written, without a key', unknown, undefined, [2], 503],
    ['no rows with a wrong version', { status: 412, code: 'PRECONDITION_FAILED' }, 'mine', [2], 412],
  ])('retries %s', async (_, outcome, idempotencyKey, sizes, status) => {
    const server = await batchServer({ 1: [outcome, outcome] });
    const results = await quickClient(server).updateInventories(rowsOf([1, 2]), { idempotencyKey });

    expect(results.map((result) => result.status)).toEqual([status, 200]);
    expect(sentIds(server).map((ids) => ids.length)).toEqual(sizes);
    const keys = new Set(server.requests.map(({ headers }) => headers['idempotency-key']));
    expect([...keys]).toEqual([idempotencyKey && `"${idempotencyKey}"`]);
  });

  test('retries rows at most maxRetries times, after a pause', async () => {
    const server = await batchServer({ 1: Array.from({ length: 9 }, () => unwritten) });
    const begin = performance.now();
    const store = quickClient(server, { retryDelay: 1_000 });
    const results = await store.updateInventories(rowsOf([1, 2]), { maxRetries: 1 });

    // Half of the delay at least, beyond the interval of batches.
    expect(performance.now() - begin).toBeGreaterThan(490);
    expect(results.map(({ status }) => status)).toEqual([503, 200]);
    expect(server.requests).toHaveLength(2);
  });

  test('has an Idempotency-Key in requests with a condition, the same in all of them', async () => {
    const server = await batchServer({});
    const withVersion = { petId: 101, quantity: 1, ifMatch: '"1"' };
    const withQuantity = { petId: 102, quantity: 1, ifQuantity: 0 };
    await quickClient(server).updateInventories([withVersion, ...rowsOf(range(50)), withQuantity]);

    const keys = server.requests.map(({ headers }) => headers['idempotency-key']);
    expect(keys.filter((key) => key !== undefined)).toHaveLength(2);
    expect(new Set(keys).size).toBe(2);
  });

  test.each([
    ['has an error', failure(500, 'INTERNAL_ERROR'), { name: 'ApiError', code: 'INTERNAL_ERROR' }],
    ['gets no response', hangUp, { name: 'ConnectionError', reason: 'network' }],
  ])('keeps the results of other requests if one %s', async (_, step, error) => {
    const server = await batchServer({}, [26, step]);
    const results = await quickClient(server, { maxRetries: 0 }).updateInventories(rowsOf(range(27)));

    expect(results.slice(0, 25).every(({ status }) => status === 200)).toBe(true);
    expect(results.slice(25)).toMatchObject([
      { petId: 26n, status: undefined, error },
      { petId: 27n, status: undefined, error },
    ]);
  });

  test('keeps its results so far when it is aborted', async () => {
    const controller = new AbortController();
    const server = await batchServer({}, [26, () => controller.abort('Enough')]);
    const { signal } = controller;
    const results = await quickClient(server).updateInventories(rowsOf(range(26)), { signal });

    expect(results[0]).toMatchObject({ status: 200 });
    expect(results[25]).toMatchObject({ petId: 26n, status: undefined, error: { cause: 'Enough' } });
  });
});
