import { describe, expect, test } from '@jest/globals';
import { apiErrorOf, patientOf } from '../../support/inventory-client.ts';
import { answer, failure, ScriptedServer, type Step } from '../../support/scripted-server.ts';

const headers = (remaining: number): Record<string, string> => ({ 'X-RateLimit-Remaining': String(remaining) });

/** A service that answers so many requests in a second. */
function limitedTo(perSecond: number): { step: Step; refused: () => number } {
  let second = 0;
  let used = 0;
  let refused = 0;
  const step: Step = (response, request) => {
    const now = Math.floor(Date.now() / 1_000);
    if (now !== second) [second, used] = [now, 0];
    if (used === perSecond) {
      refused += 1;
      failure(429, 'RATE_LIMIT_EXCEEDED', { 'Retry-After': '1', ...headers(0) })(response, request);
      return;
    }
    used += 1;
    const left = perSecond - used;
    setTimeout(() => answer(200, '[]', headers(left))(response, request), 5);
  };
  return { step, refused: () => refused };
}

describe('calls side by side', () => {
  test('are all answered, and hardly one is refused on the way', async () => {
    const { step, refused } = limitedTo(10);
    const server = await ScriptedServer.start(step);
    const { store } = patientOf(server);
    const pages = await Promise.all(Array.from({ length: 25 }, () => store.listInventoryPage({ limit: 1 })));
    expect(pages).toHaveLength(25);
    // Three seconds' worth, each of which ends with one refusal, or a few where seconds turn while requests are under way.
    expect(refused()).toBeLessThanOrEqual(6);
  });

  test('are no more at a time than there may be', async () => {
    const server = await ScriptedServer.start((response, request) => {
      setTimeout(() => answer(200, '[]')(response, request), 5);
    });
    const { store } = patientOf(server, { maxConcurrent: 3 });
    await Promise.all(Array.from({ length: 20 }, () => store.listInventoryPage({ limit: 1 })));
    expect({ requests: server.requests.length, mostAtOnce: server.mostAtOnce }).toEqual({
      requests: 20,
      mostAtOnce: 3,
    });
  });

  test('begin with one request, which finds out how much room there is', async () => {
    const refusal = failure(429, 'DAILY_QUOTA_EXCEEDED', { 'Retry-After': '40000', ...headers(0) });
    const server = await ScriptedServer.start(refusal);
    const { store } = patientOf(server);
    const calls = Array.from({ length: 20 }, () => apiErrorOf(store.listInventoryPage({ limit: 1 })));
    const errors = await Promise.all(calls);
    expect(server.requests).toHaveLength(1);
    expect(errors.filter(({ attempts }) => attempts === 0)).toHaveLength(19);
    expect(new Set(errors.map(({ code, status, message }) => `${status} ${code} ${message}`)).size).toBe(1);
    expect(new Set(errors).size).toBe(20);
  });

  test.each([
    ['a suspension', 'API_KEY_SUSPENDED', '300'],
    ['a used up day', 'DAILY_QUOTA_EXCEEDED', '40000'],
  ])('and later send nothing during %s', async (_, code, retryAfter) => {
    const server = await ScriptedServer.start(failure(429, code, { 'Retry-After': retryAfter, ...headers(0) }));
    const { store } = patientOf(server);
    await apiErrorOf(store.listInventoryPage({ limit: 1 }));
    const later = await apiErrorOf(store.updateInventory(101n, 7));
    expect(later).toMatchObject({ code, status: 429, attempts: 0, limits: { remaining: 0 } });
    expect(later.retryAfter).toBeLessThanOrEqual(Number(retryAfter));
    expect(later.retryAfter).toBeGreaterThan(Number(retryAfter) - 30);
    expect(server.requests).toHaveLength(1);
  });

  test('wait for the end of a refusal that another call has met', async () => {
    const refusal = failure(429, 'RATE_LIMIT_EXCEEDED', { 'Retry-After': '1', ...headers(0) });
    const server = await ScriptedServer.start(refusal, answer(200, '[]'));
    const { store } = patientOf(server, { maxRetries: 0 });
    const first = await apiErrorOf(store.listInventoryPage({ limit: 1 }));
    expect(first.retryAfter).toBe(1);
    expect(await store.listInventoryPage({ limit: 1 })).toMatchObject({ data: [] });
    expect(server.requests).toHaveLength(2);
  });

  test('are not held back by errors that are no refusal', async () => {
    const server = await ScriptedServer.start(
      failure(503, 'SERVICE_UNAVAILABLE', { 'Retry-After': '600' }),
      answer(200, '[]'),
    );
    const { store } = patientOf(server);
    await apiErrorOf(store.listInventoryPage({ limit: 1 }));
    expect(await store.listInventoryPage({ limit: 1 })).toMatchObject({ data: [] });
  });
});

describe('the limits of the client', () => {
  test('are those of the latest answer', async () => {
    const server = await ScriptedServer.start(answer(200, '[]', headers(9)), failure(404, 'PET_NOT_FOUND', headers(8)));
    const { store } = patientOf(server);
    expect(store.limits).toBeUndefined();
    await store.listInventoryPage({ limit: 1 });
    expect(store.limits).toMatchObject({ limit: 60, remaining: 9 });
    await apiErrorOf(store.getPet(1n));
    expect(store.limits).toMatchObject({ limit: 60, remaining: 8 });
  });
});
