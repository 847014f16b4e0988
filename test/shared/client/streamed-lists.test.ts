import { gzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { apiErrorOf, collect, connectionErrorOf, failureOf, patientOf } from '../../support/inventory-client.ts';
import { answer, breakOff, failure, hangUp, ScriptedServer, stall, type Step } from '../../support/scripted-server.ts';

const entries = [
  { petId: 101n, quantity: 7, status: 'available' },
  { petId: 9007199254740993n, quantity: 0, status: 'sold' },
];
const whole =
  '[{"petId":101,"quantity":7,"status":"available"},{"petId":9007199254740993,"quantity":0,"status":"sold"}]';
const beginning = whole.slice(0, -1);

const compressed: Step = (response) =>
  response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' }).end(gzipSync(whole));
const cutCompressed: Step = (response) =>
  response
    .writeHead(200, { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' })
    .end(gzipSync(whole).subarray(0, -12));

const page = (body: unknown, next?: string): Step =>
  answer(
    200,
    JSON.stringify(body),
    next === undefined ? {} : { Link: `</v1/store/orders?limit=1&cursor=${next}>; rel="next"` },
  );

describe('a list that is streamed', () => {
  test.each([
    ['as it is', answer(200, whole)],
    ['compressed', compressed],
  ])('is read entry by entry, %s', async (_, step) => {
    const server = await ScriptedServer.start(step);
    expect(await collect(patientOf(server).store.listInventory())).toEqual(entries);
    expect(server.requests).toMatchObject([
      { path: '/v1/inventory', headers: { 'accept-encoding': expect.stringContaining('gzip') } },
    ]);
  });

  test('is asked for with status and cursor', async () => {
    const server = await ScriptedServer.start(answer(200, '[]'));
    expect(await collect(patientOf(server).store.listInventory({ status: 'sold', cursor: 'a-b_c' }))).toEqual([]);
    expect(server.requests).toMatchObject([{ path: '/v1/inventory?cursor=a-b_c&status=sold' }]);
  });

  test('hands out entries before it is complete', async () => {
    const server = await ScriptedServer.start(stall(beginning));
    const list = patientOf(server).store.listInventory();
    expect(await list.next()).toEqual({ done: false, value: entries[0] });
    expect(await list.next()).toEqual({ done: false, value: entries[1] });
    await list.return();
  });

  test.each([
    ['with the connection', breakOff(beginning), 'broken-off', 2],
    ['within an entry', breakOff(beginning.slice(0, -4)), 'broken-off', 1],
    ['properly, but without its end', answer(200, beginning), 'broken-off', 2],
    ['properly, after a comma', answer(200, `${beginning},`), 'broken-off', 2],
    ['before it has begun', answer(200, ''), 'broken-off', 0],
    ['compressed', cutCompressed, 'broken-off', 0],
    ['in silence', stall(beginning), 'timeout', 2],
    ['with something else after it', answer(200, `${whole}{}`), 'unreadable', 0],
    ['with an error within', answer(200, `${beginning},{"message":"Internal error"}]`), 'unreadable', 0],
    ['as another thing', answer(200, { message: 'Hello' }), 'unreadable', 0],
    ['as text in another encoding', (response) => response.end(Buffer.from(whole, 'utf16le')), 'unreadable', 0],
  ] satisfies [string, Step, string, number][])('fails where it ends %s', async (_, step, reason, least) => {
    const server = await ScriptedServer.start(step);
    const { store, retries } = patientOf(server, { timeout: 200 });
    const received: unknown[] = [];
    const error = await connectionErrorOf(collect(store.listInventory(), received));
    expect({ reason: error.reason, retries, requests: server.requests.length }).toEqual({
      reason,
      retries: [],
      requests: 1,
    });
    expect(received).toEqual(entries.slice(0, received.length));
    expect(received.length).toBeGreaterThanOrEqual(least);
  });

  test('is asked for again where there was no answer yet', async () => {
    const server = await ScriptedServer.start(hangUp, failure(503, 'SERVICE_UNAVAILABLE'), answer(200, whole));
    expect(await collect(patientOf(server).store.listInventory())).toEqual(entries);
  });

  test('throws the error that the service answers with', async () => {
    const server = await ScriptedServer.start(failure(400, 'INVALID_CURSOR'));
    const error = await apiErrorOf(collect(patientOf(server).store.listOrders({ cursor: 'x' })));
    expect(error).toMatchObject({ code: 'INVALID_CURSOR', status: 400 });
  });

  test('ends the connection where it is left early', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const server = await ScriptedServer.start((response, request) => {
      response.once('close', resolve);
      stall(beginning)(response, request);
    });
    for await (const entry of patientOf(server).store.listInventory()) {
      expect(entry).toEqual(entries[0]);
      break;
    }
    await promise;
  });

  test('stops where the call is aborted', async () => {
    const server = await ScriptedServer.start(stall(beginning));
    const controller = new AbortController();
    const reason = new Error('Enough');
    const list = patientOf(server).store.listInventory({ signal: controller.signal });
    await list.next();
    await list.next();
    const next = list.next();
    controller.abort(reason);
    expect(await failureOf(next)).toBe(reason);
  });
});

describe('a list in pages', () => {
  const order = { id: 1, petId: 101, quantity: 1, status: 'placed', complete: false };

  test('is followed to its end, and each page is repeated by itself', async () => {
    const server = await ScriptedServer.start(
      page([order], 'b'),
      breakOff('[{"id":2'),
      page([{ ...order, id: 2 }], 'c-_'),
      page([]),
    );
    const orders = await collect(patientOf(server).store.listOrders({ limit: 1, status: 'placed' }));
    expect(orders).toEqual([
      { ...order, id: 1n, petId: 101n },
      { ...order, id: 2n, petId: 101n },
    ]);
    expect(server.requests.map(({ path }) => path)).toEqual([
      '/v1/store/orders?limit=1&status=placed',
      '/v1/store/orders?limit=1&cursor=b&status=placed',
      '/v1/store/orders?limit=1&cursor=b&status=placed',
      '/v1/store/orders?limit=1&cursor=c-_&status=placed',
    ]);
  });

  test('tells where the next page begins', async () => {
    const server = await ScriptedServer.start(page([order], 'b'), page([order]));
    const { store } = patientOf(server);
    const first = await store.listOrdersPage({ limit: 1 });
    expect(first).toMatchObject({ next: 'b', limits: { remaining: 59 } });
    expect(await store.listOrdersPage({ limit: 1, cursor: first.next })).toMatchObject({ next: undefined });
  });
});
