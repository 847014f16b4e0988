import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { ApiClient } from '../support/api-client.ts';
import { type FunctionFault, hurryTimers, plantFaults } from '../support/function-faults.ts';
import { type IssuedKey, issueKey } from '../support/issue-key.ts';
import { LocalHost } from '../support/local-host.ts';

const GATEWAY_TIMEOUT_MS = 29_000;
const FALLBACK_TIMEOUT_MS = 5_000;
const AUTHORIZER_TIMEOUT_MS = 10_000;

describe('When a function', () => {
  let host: LocalHost;
  let key: IssuedKey;
  let api: ApiClient;

  beforeAll(async () => {
    host = await LocalHost.start();
    plantFaults(host, 'FunctionsFallback', 'x-fault-fallback');
    plantFaults(host, 'FunctionsAuthorizer', 'x-fault-authorizer');
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

  test.each([
    'crashes',
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

  test('failed, its log says why', async () => {
    await whenFallback('throws');
    const log = await host.logWith('the secret of the function');

    expect(log).toContain('the secret of the function');
    expect(log).not.toContain(key.token);
  });
});
