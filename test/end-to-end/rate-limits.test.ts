import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { type Answer, ApiClient } from '../support/api-client.ts';
import { HostClock } from '../support/host-clock.ts';
import { type IssuedKey, issueKey } from '../support/issue-key.ts';
import { LocalHost } from '../support/local-host.ts';

const admitted = (responses: readonly Answer[]) => responses.filter(({ status }) => status === 200);
const remaining = (responses: readonly Answer[]) =>
  admitted(responses)
    .map(({ rateLimit }) => rateLimit.remaining)
    .toSorted((a, b) => a - b);
const from0To = (last: number) => Array.from({ length: last + 1 }, (_, index) => index);

let host: LocalHost;
let clock: HostClock;

beforeAll(async () => {
  host = await LocalHost.start();
  clock = new HostClock();
});

afterAll(() => {
  clock.release();
  return host.close();
});

beforeEach(() => clock.moveToFreshMinute(40));

const apiOf = ({ token }: IssuedKey) => ApiClient.withKey(host.baseUrl, token);
const list = (key: IssuedKey) => apiOf(key).list();
const listConcurrently = (key: IssuedKey, count: number) => Promise.all(Array.from({ length: count }, () => list(key)));

test('concurrent requests are admitted exactly up to the limit per minute, then per day', async () => {
  const key = await issueKey(host, { perMinute: 60, perDay: 100 });

  const first = await listConcurrently(key, 80);
  expect(remaining(first)).toEqual(from0To(59));
  expect(new Set(first.map(({ status }) => status))).toEqual(new Set([200, 429]));
  for (const { rateLimit } of admitted(first)) {
    expect(rateLimit).toMatchObject({ limit: 60, reset: clock.endOfMinute });
  }

  clock.moveToFreshMinute();
  const second = await listConcurrently(key, 60);
  expect(remaining(second)).toEqual(from0To(39));
  for (const { rateLimit } of admitted(second)) {
    expect(rateLimit).toMatchObject({ limit: 100, reset: clock.endOfDay });
  }

  clock.moveTo(clock.endOfDay * 1_000);
  expect(remaining(await listConcurrently(key, 70))).toEqual(from0To(59));
});

test('a request that the gateway denies after its admission counts and carries the limits', async () => {
  const key = await issueKey(host, { perMinute: 10 });
  const { keyId } = await key.read();
  const { records } = host.host;
  for (const apiKey of records.apiKeys.filter(({ id }) => id === keyId))
    records.putApiKey({ ...apiKey, enabled: false });

  expect(await list(key)).toMatchObject({
    status: 401,
    error: { code: 'API_KEY_INVALID' },
    rateLimit: { limit: 10, remaining: 9 },
  });
  expect(await key.read()).toMatchObject({ minuteUsed: 1 });
});

test('a request with a body over 10 MB does not count', async () => {
  const key = await issueKey(host, { perMinute: 10 });
  const response = await apiOf(key).patch(101, ' '.repeat(10 * 1024 * 1024 + 1));

  expect(response).toMatchObject({ status: 413, rateLimit: { limit: 0, remaining: 0, reset: 0 } });
  expect(await key.read()).toMatchObject({ minuteUsed: 0 });
});

test('an update over the limit is refused and not applied during a flood of another key', async () => {
  const suspended = { perMinute: 5_000, suspendedUntil: clock.now + 3_600_000, suspendedByAdmin: true };
  const flooding = await issueKey(host, suspended);
  const currentMinute = Math.floor(clock.now / 60_000);
  const exhausted = await issueKey(host, { perMinute: 60, minuteUsed: 60, currentMinute });
  const before = await host.stock.read('101');
  const [flood, honest] = await Promise.all([listConcurrently(flooding, 280), apiOf(exhausted).setQuantity(101, 99)]);

  expect(new Set(flood.map(({ error }) => error?.code))).toEqual(new Set(['API_KEY_SUSPENDED']));
  expect(honest).toMatchObject({
    status: 429,
    error: { code: 'RATE_LIMIT_EXCEEDED' },
    rateLimit: { limit: 60, remaining: 0, reset: clock.endOfMinute },
  });
  expect(honest.headers.get('Retry-After')).toBe('20');
  expect(await host.stock.read('101')).toEqual(before);
});

test('the gateway throttles a key whose record has a higher limit than its usage plan', async () => {
  const key = await issueKey(host, { plan: 'free', perMinute: 5_000 });
  // More than the bucket has (120), also where it fills again for some seconds meanwhile.
  const refused = (await listConcurrently(key, 250)).filter(({ status }) => status === 429);

  expect(new Set(refused.map(({ error, headers }) => `${error?.code} ${headers.get('Retry-After')}`))).toEqual(
    new Set(['TOO_MANY_REQUESTS 1']),
  );
  expect(refused[0]?.rateLimit).toEqual({ limit: 0, remaining: 0, reset: 0 });
});
