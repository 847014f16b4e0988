import { CreateApiKeyCommand, CreateUsagePlanKeyCommand } from '@aws-sdk/client-api-gateway';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import pLimit from 'p-limit';
import { templatePlanOf } from '../../infra/local/prepare-data.ts';
import { type Answer, ApiClient } from '../support/api-client.ts';
import { gatewayAt, signature } from '../support/gateway-records.ts';
import { HostClock } from '../support/clocks.ts';
import { type IssuedKey, issueKey, LocalHost } from '../support/local-host.ts';
import { until } from '../support/until.ts';

let host: LocalHost;

beforeAll(async () => {
  host = await LocalHost.start();
});
afterAll(() => host?.close());

const apiOf = ({ token }: IssuedKey) => ApiClient.withKey(host.baseUrl, token);

test('a request without a key is denied before any other check, and a CORS preflight needs none', async () => {
  const withoutKey = new ApiClient(host.baseUrl, undefined);
  const headers = { Origin: 'https://example.com', 'Access-Control-Request-Method': 'PATCH' };

  expect(await withoutKey.send('PATCH', '/inventory/no-pet')).toMatchObject({
    error: { code: 'API_KEY_MISSING' },
    rateLimit: { limit: 0, remaining: 0 },
  });
  const preflight = await withoutKey.send('OPTIONS', '/inventory/101', { headers });
  expect(preflight).toMatchObject({ status: 204, text: '' });
  expect(preflight.headers.get('Access-Control-Allow-Origin')).toBe('*');
  expect(preflight.headers.get('Access-Control-Max-Age')).toBe('3600');
});

describe('The private part of the server', () => {
  const callDatabase = { method: 'POST', headers: { 'x-amz-target': 'DynamoDB_20120810.ListTables' }, body: '{}' };

  // The admin command calls all three from this machine.
  test.each([
    ['the database', '/', callDatabase],
    ['the keys', '/apikeys?includeValues=true', { headers: { authorization: signature } }],
    ['the outputs', '/outputs.json', { headers: {} }],
  ])('does not give %s to a page of another origin', async (_, path, call) => {
    const headers = { ...call.headers, origin: 'https://example.com' };
    const refused = await fetch(host.origin + path, { ...call, headers });

    expect(refused.status).toBe(403);
    expect(refused.headers.get('access-control-allow-origin')).toBeNull();
  });

  test('serves nothing at the port of the engine without its secret path', async () => {
    const response = await fetch(new URL('/', host.host.engineEndpoint), callDatabase);

    expect([response.status, await response.text()]).toEqual([404, '']);
  });
});

test('a key of the AWS console is served within 20 seconds', async () => {
  const gateway = gatewayAt(host.origin);
  const usagePlanId = templatePlanOf(host.host.records, 'pro')?.id ?? '';
  const { id: keyId = '', value: token = '' } = await gateway.send(new CreateApiKeyCommand({ enabled: true }));
  host.issuedKeys.add(token);
  await gateway.send(new CreateUsagePlanKeyCommand({ usagePlanId, keyId, keyType: 'API_KEY' }));
  const api = ApiClient.withKey(host.baseUrl, token);
  await until('the key is known', async () => (await api.list()).status === 200);
  expect(await api.list()).toMatchObject({ status: 200, rateLimit: { limit: 300 } });
  gateway.destroy();
});

const listConcurrently = (key: IssuedKey, count: number) => {
  // So few that a busy machine answers each within the time-outs of the functions.
  const inTurn = pLimit(20);
  return Promise.all(Array.from({ length: count }, () => inTurn(() => apiOf(key).list())));
};
/** The limits of this many admitted requests, the last with nothing left. */
const countdown = (count: number, limits: object) =>
  Array.from({ length: count }, (_, index) => ({ ...limits, remaining: count - 1 - index }));
/** The limits in the admitted responses, by what remains. */
const admitted = (responses: readonly Answer[]) =>
  responses
    .flatMap(({ status, rateLimit }) => (status === 200 ? rateLimit : []))
    .toSorted((a, b) => b.remaining - a.remaining);

describe('The limits of a key', () => {
  let clock: HostClock;

  beforeAll(() => void (clock = new HostClock()));
  afterAll(() => clock.release());
  beforeEach(() => clock.moveToFreshMinute(40));

  test('admit exactly as many concurrent requests as remain per minute, then per day', async () => {
    const key = await issueKey(host, { perMinute: 60, perDay: 100 });

    const first = await listConcurrently(key, 80);
    expect(admitted(first)).toEqual(countdown(60, { limit: 60, reset: clock.endOfMinute }));
    expect(new Set(first.map(({ status }) => status))).toEqual(new Set([200, 429]));
    clock.moveToFreshMinute();
    expect(admitted(await listConcurrently(key, 60))).toEqual(countdown(40, { limit: 100, reset: clock.endOfDay }));
    clock.moveTo(clock.endOfDay * 1_000);
    expect(admitted(await listConcurrently(key, 70))).toHaveLength(60);
  });

  test('count a request that the gateway denies after its admission', async () => {
    const key = await issueKey(host, { perMinute: 10 });
    const { keyId } = await key.read();
    const { records } = host.host;
    for (const apiKey of records.apiKeys.filter(({ id }) => id === keyId))
      records.putApiKey({ ...apiKey, enabled: false });

    expect(await apiOf(key).list()).toMatchObject({
      error: { code: 'API_KEY_INVALID' },
      rateLimit: { limit: 10, remaining: 9 },
    });
    expect(await key.read()).toMatchObject({ minuteUsed: 1 });
  });

  test('do not count a request with a body over 10 MB', async () => {
    const key = await issueKey(host);
    const response = await apiOf(key).patch(101, ' '.repeat(10 * 1024 * 1024 + 1));

    expect(response).toMatchObject({ status: 413, rateLimit: { limit: 0, remaining: 0, reset: 0 } });
    expect(await key.read()).toMatchObject({ minuteUsed: 0 });
  });

  test('refuse an update, which is not applied', async () => {
    const currentMinute = Math.floor(clock.now / 60_000);
    const exhausted = await issueKey(host, { perMinute: 60, minuteUsed: 60, currentMinute });
    const before = await host.stock.read('101');
    const refused = await apiOf(exhausted).setQuantity(101, 99);

    expect(refused).toMatchObject({
      error: { code: 'RATE_LIMIT_EXCEEDED' },
      rateLimit: { limit: 60, remaining: 0, reset: clock.endOfMinute },
    });
    expect(refused.headers.get('Retry-After')).toBe('20');
    expect(await host.stock.read('101')).toEqual(before);
  });
});
