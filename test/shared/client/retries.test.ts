import { describe, expect, test } from '@jest/globals';
import { apiErrorOf, connectionErrorOf, patientOf } from '../../support/inventory-client.ts';
import { freePort } from '../../support/listening.ts';
import { answer, breakOff, failure, hangUp, ScriptedServer, silence, stall } from '../../support/scripted-server.ts';

const entry = { petId: 101, quantity: 7, status: 'available' };
const pet = { id: 101, name: 'Rex', photoUrls: [] };
const good = answer(200, entry, { ETag: '"7"' });

describe('a request that failed', () => {
  test.each([
    ['429 for the minute', failure(429, 'RATE_LIMIT_EXCEEDED', { 'Retry-After': '0' })],
    ['429 of something on the way', answer(429, 'Slow down')],
    ['500', failure(500, 'INTERNAL_ERROR')],
    ['502', failure(502, 'BAD_GATEWAY')],
    ['503', failure(503, 'SERVICE_UNAVAILABLE', { 'Retry-After': '0' })],
    ['504 of something on the way', answer(504, '<html>')],
    ['a broken connection', hangUp],
    ['silence', silence],
    ['an answer that breaks off', breakOff('{"petId":101,')],
    ['an answer that stalls', stall('{"petId":101,')],
  ])('with %s is repeated', async (_, step) => {
    const server = await ScriptedServer.start(step, step, good);
    const { store, retries } = patientOf(server, { timeout: 300 });
    const { data, etag } = await store.updateInventory(101n, 7);
    expect({ data, etag }).toEqual({ data: { ...entry, petId: 101n }, etag: '"7"' });
    expect(server.requests).toHaveLength(3);
    expect(retries.map(({ attempt }) => attempt)).toEqual([2, 3]);
  });

  test.each([
    [400, 'INVALID_BODY'],
    [401, 'API_KEY_INVALID'],
    [403, 'FORBIDDEN'],
    [404, 'PET_NOT_FOUND'],
    [405, 'METHOD_NOT_ALLOWED'],
    [409, 'SOME_OTHER_CONFLICT'],
    [412, 'PRECONDITION_FAILED'],
    [413, 'PAYLOAD_TOO_LARGE'],
    [415, 'UNSUPPORTED_MEDIA_TYPE'],
    [422, 'IDEMPOTENCY_KEY_REUSED'],
    [501, 'NOT_IMPLEMENTED'],
  ])('with %d %s is not repeated', async (status, code) => {
    const server = await ScriptedServer.start(failure(status, code, { 'Retry-After': '0' }), good);
    const { store, retries } = patientOf(server);
    const error = await apiErrorOf(store.updateInventory(101n, 7));
    expect(error).toMatchObject({ code, status, message: `This is ${code}.`, attempts: 1 });
    expect({ requests: server.requests.length, retries }).toEqual({ requests: 1, retries: [] });
  });

  test('with an error whose body breaks off counts by its status', async () => {
    const server = await ScriptedServer.start(breakOff('{"code":"INVALID', 400), good);
    const error = await apiErrorOf(patientOf(server).store.updateInventory(101n, 7));
    expect(error).toMatchObject({ code: 'UNEXPECTED_ANSWER', status: 400, attempts: 1 });
  });

  test.each([
    ['no JSON', '<html>'],
    ['something else', '{"petId":"Rex"}'],
    ['a part of it', '{"petId":101,"quantity":7}'],
    ['nothing', ''],
    ['a list', '[]'],
  ])('with an answer that is %s is not repeated', async (_, body) => {
    const server = await ScriptedServer.start(answer(200, body), good);
    const { store } = patientOf(server);
    expect(await connectionErrorOf(store.updateInventory(101n, 7))).toMatchObject({
      reason: 'unreadable',
      attempts: 1,
    });
    expect(server.requests).toHaveLength(1);
  });

  test('is the same in all tries, and so is its Idempotency-Key', async () => {
    const server = await ScriptedServer.start(hangUp, failure(503, 'SERVICE_UNAVAILABLE'), good);
    await patientOf(server).store.updateInventory(101n, 7, { ifMatch: '"6"' });
    const [first] = server.requests;
    expect(first).toMatchObject({
      method: 'PATCH',
      path: '/v1/inventory/101',
      body: '{"quantity":7}',
      headers: {
        'content-type': 'application/json',
        'if-match': '"6"',
        'idempotency-key': expect.stringMatching(/^"[0-9a-f]{32}"$/),
      },
    });
    expect(server.requests).toEqual([first, first, first]);
  });

  test('has another Idempotency-Key in the next call', async () => {
    const server = await ScriptedServer.start(good);
    const { store } = patientOf(server);
    await store.updateInventory(101n, 7);
    await store.updateInventory(101n, 7);
    const [one, two] = server.requests.map(({ headers }) => headers['idempotency-key']);
    expect(one).not.toBe(two);
  });

  test('is given up after the last try, with what it has met', async () => {
    const headers = { 'x-amzn-RequestId': 'request-1', 'Retry-After': '0' };
    const server = await ScriptedServer.start(failure(503, 'SERVICE_UNAVAILABLE', headers));
    const error = await apiErrorOf(patientOf(server, { maxRetries: 2 }).store.updateInventory(101n, 7));
    expect(error).toMatchObject({
      name: 'ApiError',
      code: 'SERVICE_UNAVAILABLE',
      status: 503,
      limits: { limit: 60, remaining: 59 },
      retryAfter: 0,
      requestId: 'request-1',
      attempts: 3,
    });
    expect(server.requests).toHaveLength(3);
  });

  test.each([
    ['hang up', hangUp, 'network', 'There was no answer to PATCH'],
    ['silence', silence, 'timeout', 'Nothing was heard of PATCH'],
    ['stall', stall('{'), 'timeout', 'Nothing was heard of PATCH'],
    ['break off', breakOff('{'), 'broken-off', 'The answer to PATCH'],
  ])('is given up after the last try that got no answer: %s', async (_, step, reason, words) => {
    const server = await ScriptedServer.start(step);
    const { store } = patientOf(server, { maxRetries: 1, timeout: 100 });
    const error = await connectionErrorOf(store.updateInventory(101n, 7));
    expect(error).toMatchObject({ name: 'ConnectionError', reason, attempts: 2 });
    expect(error.message).toContain(`${words} ${server.baseUrl}/inventory/101`);
  });

  test('says why nobody answers', async () => {
    const baseUrl = `http://127.0.0.1:${await freePort()}/v1`;
    const error = await connectionErrorOf(patientOf({ baseUrl }, { maxRetries: 1 }).store.updateInventory(101n, 7));
    expect(error).toMatchObject({ reason: 'network', attempts: 2, message: expect.stringContaining('ECONNREFUSED') });
  });

  test('is not repeated where the client must not', async () => {
    const server = await ScriptedServer.start(failure(503, 'SERVICE_UNAVAILABLE'), good);
    const { store } = patientOf(server, { maxRetries: 0 });
    expect(await apiErrorOf(store.updateInventory(101n, 7))).toMatchObject({ attempts: 1 });
    expect(server.requests).toHaveLength(1);
  });

  test('is repeated for a pet and for a page as well', async () => {
    const server = await ScriptedServer.start(hangUp, answer(200, pet), breakOff('[{"petId":1'), answer(200, [entry]));
    const { store } = patientOf(server);
    expect((await store.getPet(101n)).data).toEqual({ ...pet, id: 101n });
    expect((await store.listInventoryPage({ limit: 1 })).data).toEqual([{ ...entry, petId: 101n }]);
    expect(server.requests).toHaveLength(4);
  });

  test('is not sent to another address', async () => {
    const other = await ScriptedServer.start(good);
    const server = await ScriptedServer.start(answer(307, '', { Location: `${other.baseUrl}/inventory/101` }));
    const error = await apiErrorOf(patientOf(server).store.updateInventory(101n, 7));
    expect(error).toMatchObject({ code: 'UNEXPECTED_ANSWER', status: 307, attempts: 1 });
    expect(other.requests).toEqual([]);
  });
});

describe('the pause before a repetition', () => {
  test('doubles, with a random part of up to half of it', async () => {
    const server = await ScriptedServer.start(failure(500, 'INTERNAL_ERROR'));
    const { store, retries } = patientOf(server, { retryDelay: 8, maxRetries: 6 });
    await apiErrorOf(store.updateInventory(101n, 7));
    const shares = retries.map(({ pause }, index) => pause / (8 * 2 ** index));
    expect(shares).toHaveLength(6);
    expect(Math.min(...shares)).toBeGreaterThanOrEqual(0.5);
    expect(Math.max(...shares)).toBeLessThanOrEqual(1);
    expect(new Set(shares).size).toBeGreaterThan(1);
  });

  test('is at least as long as Retry-After says', async () => {
    const server = await ScriptedServer.start(failure(503, 'SERVICE_UNAVAILABLE', { 'Retry-After': '1' }), good);
    const { store, retries } = patientOf(server);
    await store.updateInventory(101n, 7);
    expect(retries).toEqual([expect.objectContaining({ attempt: 2, pause: expect.any(Number) })]);
    expect(retries[0]?.pause).toBeGreaterThanOrEqual(1_000);
  });

  test('goes by a Retry-After that is a date', async () => {
    const date = new Date(Date.now() + 7_200_000).toUTCString();
    const server = await ScriptedServer.start(failure(503, 'SERVICE_UNAVAILABLE', { 'Retry-After': date }));
    const { retryAfter = 0 } = await apiErrorOf(patientOf(server).store.updateInventory(101n, 7));
    expect(retryAfter).toBeGreaterThan(7_000);
    expect(retryAfter).toBeLessThanOrEqual(7_200);
  });

  test.each([
    ['of one try', 1_999, '2', 1],
    ['of all tries together', 1_999, '1', 2],
  ])('is not longer than the client may wait, %s', async (_, maxWait, retryAfter, attempts) => {
    const server = await ScriptedServer.start(failure(503, 'SERVICE_UNAVAILABLE', { 'Retry-After': retryAfter }));
    const error = await apiErrorOf(patientOf(server, { maxWait }).store.updateInventory(101n, 7));
    expect(error).toMatchObject({ retryAfter: Number(retryAfter), attempts });
  });

  test.each([
    ['DAILY_QUOTA_EXCEEDED', '40000'],
    ['API_KEY_SUSPENDED', '300'],
  ])('is refused for %s', async (code, retryAfter) => {
    const server = await ScriptedServer.start(failure(429, code, { 'Retry-After': retryAfter }), good);
    const { store, retries } = patientOf(server);
    expect(await apiErrorOf(store.updateInventory(101n, 7))).toMatchObject({ code, retryAfter: Number(retryAfter) });
    expect(retries).toEqual([]);
  });
});
