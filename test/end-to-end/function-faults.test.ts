import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { ApiClient } from '../support/api-client.ts';
import {
  assemblyForFaults,
  type EarlyFault,
  type FaultAfterwards,
  type FunctionFault,
  hurryTimers,
  type LateFault,
  plantFaults,
  plantFaultsAfterwards,
  plantStreamFaults,
} from '../support/function-faults.ts';
import { type IssuedKey, issueKey } from '../support/issue-key.ts';
import { LocalHost } from '../support/local-host.ts';

const GATEWAY_TIMEOUT_MS = 29_000;
const FALLBACK_TIMEOUT_MS = 5_000;
const AUTHORIZER_TIMEOUT_MS = 10_000;
const UPDATE_TIMEOUT_MS = 15_000;
/** Of the function and of the gateway. */
const STREAMING_TIMEOUT_MS = 120_000;

describe('When a function', () => {
  const assembly = assemblyForFaults();
  let host: LocalHost;
  let key: IssuedKey;
  let api: ApiClient;

  beforeAll(async () => {
    plantFaults(assembly, 'FunctionsFallback', 'x-fault-fallback');
    plantFaults(assembly, 'FunctionsAuthorizer', 'x-fault-authorizer');
    plantFaultsAfterwards(assembly, 'FunctionsUpdateInventory', 'x-fault-update');
    plantStreamFaults(assembly, 'FunctionsListInventory', 'x-fault-list');
    host = await LocalHost.start({ assembly });
    key = await issueKey(host);
    api = ApiClient.withKey(host.baseUrl, key.token);
  });

  afterAll(() => host.close());

  afterEach(() => {
    jest.restoreAllMocks();
  });

  const whenFallback = (fault: FunctionFault) =>
    api.send('GET', '/nowhere', { headers: { 'X-Fault-Fallback': fault } });

  const whenAuthorizer = (fault: FunctionFault) =>
    api.send('GET', '/inventory', { headers: { 'X-Fault-Authorizer': fault } });

  const whenList = (fault: EarlyFault) => api.send('GET', '/inventory', { headers: { 'X-Fault-List': fault } });

  async function whenUpdate(quantity: number, fault: FaultAfterwards, headers: Record<string, string> = {}) {
    // Time enough for the work itself.
    if (fault === 'hangs afterwards') hurryTimers(UPDATE_TIMEOUT_MS, 1_500);
    const answer = await api.send('PATCH', '/inventory/101', {
      headers: { 'Content-Type': 'application/json', 'X-Fault-Update': fault, ...headers },
      body: JSON.stringify({ quantity }),
    });
    jest.restoreAllMocks();
    return answer;
  }

  /** The ETag of the entry, as a 412 tells it. */
  const etagOf = async (): Promise<string | null> => {
    const { headers } = await api.send('PATCH', '/inventory/101', {
      headers: { 'Content-Type': 'application/json', 'If-Match': '"none"' },
      body: '{"quantity":1}',
    });
    return headers.get('ETag');
  };

  /** The status of a list, and how the rest of the answer fails. */
  async function whenListBreaks(fault: LateFault, encoding: string) {
    const headers = { Authorization: `Bearer ${key.token}`, 'X-Fault-List': fault, 'Accept-Encoding': encoding };
    const response = await fetch(`${host.baseUrl}/inventory`, { headers });
    const failure: unknown = await response.text().catch((error: unknown) => error);
    return { status: response.status, limit: response.headers.get('X-RateLimit-Limit'), failure };
  }

  test.each([
    'crashes',
    'runs out of memory',
    'throws',
    'answers with nothing',
    'answers with another shape',
    'answers with too much',
  ] as const)('%s, 502 with the limit of the key, and the next request is served', async (fault) => {
    const { dayUsed } = await key.read();
    const answer = await whenFallback(fault);

    expect(answer).toMatchObject({
      status: 502,
      error: { code: 'BAD_GATEWAY' },
      rateLimit: { limit: 1_000, remaining: 1_000 - dayUsed - 1 },
    });
    expect(answer.text).not.toContain('secret');
    expect(await api.send('GET', '/nowhere')).toMatchObject({ status: 404 });
  });

  test('runs out of its time, 502, and the next request is served', async () => {
    hurryTimers(FALLBACK_TIMEOUT_MS);

    expect(await whenFallback('hangs')).toMatchObject({ status: 502, error: { code: 'BAD_GATEWAY' } });
    expect(await api.send('GET', '/nowhere')).toMatchObject({ status: 404 });
  });

  test('outlasts the patience of the gateway, 504 with the limit of the key', async () => {
    hurryTimers(GATEWAY_TIMEOUT_MS);

    expect(await whenFallback('hangs')).toMatchObject({
      status: 504,
      error: { code: 'GATEWAY_TIMEOUT' },
      rateLimit: { limit: 1_000 },
    });
  });

  describe('is the authorizer and', () => {
    test.each([
      'crashes',
      'runs out of memory',
      'throws',
      'answers with nothing',
      'answers with another shape',
      'answers with too much',
    ] as const)('%s, 503 and the request does not count', async (fault) => {
      const { dayUsed } = await key.read();

      expect(await whenAuthorizer(fault)).toMatchObject({ status: 503, error: { code: 'SERVICE_UNAVAILABLE' } });
      expect(await key.read()).toMatchObject({ dayUsed });
      expect(await api.list()).toMatchObject({ status: 200 });
    });

    test('runs out of its time, 503', async () => {
      hurryTimers(AUTHORIZER_TIMEOUT_MS);

      expect(await whenAuthorizer('hangs')).toMatchObject({ status: 503, error: { code: 'SERVICE_UNAVAILABLE' } });
    });

    test('refuses in the words of API Gateway, 401', async () => {
      expect(await whenAuthorizer('refuses in the words of API Gateway')).toMatchObject({ status: 401 });
    });
  });

  describe('has updated the stock and', () => {
    test.each(['crashes afterwards', 'runs out of memory afterwards', 'hangs afterwards'] as const)(
      '%s, 502, and the update is there',
      async (fault) => {
        const before = await etagOf();
        const answer = await whenUpdate(31, fault);

        expect(answer).toMatchObject({ status: 502, error: { code: 'BAD_GATEWAY' }, rateLimit: { limit: 1_000 } });
        expect(await etagOf()).not.toBe(before);
        expect((await api.list()).text).toContain('{"petId":101,"quantity":31,');
      },
    );

    test.each(['crashes afterwards', 'runs out of memory afterwards', 'hangs afterwards'] as const)(
      '%s, a repetition with its Idempotency-Key is answered and does not do it again, whatever others did',
      async (fault) => {
        const headers = { 'Idempotency-Key': `"${fault}"` };
        const failed = await whenUpdate(32, fault, headers);
        const theirs = await api.setQuantity(101, 33);
        const repeated = await api.send('PATCH', '/inventory/101', {
          headers: { 'Content-Type': 'application/json', ...headers },
          body: '{"quantity":32}',
        });

        expect(failed.status).toBe(502);
        expect(repeated).toMatchObject({ status: 200, text: expect.stringContaining('"quantity":32') });
        expect(await etagOf()).toBe(theirs.headers.get('ETag'));
        expect((await api.list()).text).toContain('{"petId":101,"quantity":33,');
      },
    );
  });

  describe('streams and', () => {
    test.each([
      'crashes',
      'throws',
      'ends without a word',
      'sends no metadata',
      'sends metadata of another shape',
      'sends too much metadata',
    ] as const)('%s, 502 with the limit of the key, and the next request is served', async (fault) => {
      const { dayUsed } = await key.read();
      const answer = await whenList(fault);

      expect(answer).toMatchObject({
        status: 502,
        error: { code: 'BAD_GATEWAY' },
        rateLimit: { limit: 1_000, remaining: 1_000 - dayUsed - 1 },
      });
      expect(answer.text).not.toContain('secret');
      expect(await api.list()).toMatchObject({ status: 200 });
    });

    test('outlasts the patience of the gateway before it has begun, 504 with the limit of the key', async () => {
      hurryTimers(STREAMING_TIMEOUT_MS);

      expect(await whenList('hangs')).toMatchObject({
        status: 504,
        error: { code: 'GATEWAY_TIMEOUT' },
        rateLimit: { limit: 1_000 },
      });
    });

    const late = ['crashes in the middle', 'throws in the middle', 'hangs in the middle'] as const;
    const brokenLists = late.flatMap((fault) => ['identity', 'gzip'].map((encoding) => [fault, encoding] as const));

    test.each(brokenLists)(
      '%s, the connection is cut (%s), and the next request is served',
      async (fault, encoding) => {
        if (fault === 'hangs in the middle') hurryTimers(STREAMING_TIMEOUT_MS);
        const { status, limit, failure } = await whenListBreaks(fault, encoding);

        expect({ status, limit }).toEqual({ status: 200, limit: '1000' });
        expect(failure).toMatchObject({ name: 'TypeError', message: 'terminated' });
        jest.restoreAllMocks();
        expect(await api.list()).toMatchObject({ status: 200 });
      },
    );

    test('broke off, its log says why', async () => {
      const timesLogged = (): number => host.log.split('the secret of the function').length;
      const before = timesLogged();
      await whenListBreaks('throws in the middle', 'identity');
      while (timesLogged() === before) await sleep(20);

      expect(host.log).not.toContain(key.token);
    });
  });

  test('failed, its log says why', async () => {
    await whenFallback('throws');
    const log = await host.logWith('the secret of the function');

    expect(log).toContain('the secret of the function');
    expect(log).not.toContain(key.token);
  });
});
