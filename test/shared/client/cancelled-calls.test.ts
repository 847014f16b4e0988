import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { collect, failureOf, patientOf } from '../../support/inventory-client.ts';
import { answer, failure, ScriptedServer, silence } from '../../support/scripted-server.ts';

const reason = new Error('Enough');

/** A signal that aborts when the work is done. */
function abortAfter(work: Promise<unknown>): AbortSignal {
  const controller = new AbortController();
  void work.finally(() => controller.abort(reason));
  return controller.signal;
}

describe('a call that is aborted', () => {
  test('before it begins sends nothing', async () => {
    const server = await ScriptedServer.start(answer(200, '[]'));
    const { store } = patientOf(server);
    const signal = AbortSignal.abort(reason);
    expect(await failureOf(store.updateInventory(101n, 7, { signal }))).toBe(reason);
    expect(await failureOf(store.getPet(101n, { signal }))).toBe(reason);
    expect(await failureOf(store.listInventoryPage({ limit: 1, signal }))).toBe(reason);
    expect(await failureOf(collect(store.listOrders({ signal })))).toBe(reason);
    expect(server.requests).toEqual([]);
  });

  test('while it waits for an answer throws the reason', async () => {
    const asked = Promise.withResolvers<void>();
    const server = await ScriptedServer.start(() => asked.resolve());
    const signal = abortAfter(asked.promise);
    const { store, retries } = patientOf(server);
    expect(await failureOf(store.updateInventory(101n, 7, { signal }))).toBe(reason);
    expect({ requests: server.requests.length, retries }).toEqual({ requests: 1, retries: [] });
  });

  test('during a pause throws the reason, and is not repeated', async () => {
    const paused = Promise.withResolvers<void>();
    const server = await ScriptedServer.start(failure(503, 'SERVICE_UNAVAILABLE', { 'Retry-After': '60' }));
    const { store } = patientOf(server, { onRetry: () => paused.resolve() });
    const signal = abortAfter(paused.promise);
    expect(await failureOf(store.updateInventory(101n, 7, { signal }))).toBe(reason);
    expect(server.requests).toHaveLength(1);
  });

  test('in the queue throws the reason, and lets the others pass', async () => {
    const asked = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    const server = await ScriptedServer.start(
      (response, request) => {
        asked.resolve();
        void release.promise.then(() => answer(200, '[]')(response, request));
      },
      answer(200, '[]'),
    );
    const { store } = patientOf(server, { maxConcurrent: 1 });
    const first = store.listInventoryPage({ limit: 1 });
    await asked.promise;
    const controller = new AbortController();
    const second = store.listInventoryPage({ limit: 2, signal: controller.signal });
    const third = store.listInventoryPage({ limit: 3 });
    const thrown = failureOf(second);
    // Until both are in the queue.
    await sleep(50);
    controller.abort(reason);
    expect(await thrown).toBe(reason);
    release.resolve();
    expect(await Promise.all([first, third])).toMatchObject([{ data: [] }, { data: [] }]);
    expect(server.requests.map(({ path }) => path)).toEqual(['/v1/inventory?limit=1', '/v1/inventory?limit=3']);
  });

  test('by a time limit throws a TimeoutError', async () => {
    const server = await ScriptedServer.start(silence);
    const signal = AbortSignal.timeout(50);
    const thrown = await failureOf(patientOf(server).store.updateInventory(101n, 7, { signal }));
    expect(thrown).toMatchObject({ name: 'TimeoutError' });
  });
});
