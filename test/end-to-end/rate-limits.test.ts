import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type Answer, ApiClient } from '../support/api-client.ts';
import { HostClock } from '../support/host-clock.ts';
import { type IssuedKey, issueKey } from '../support/issue-key.ts';
import { LocalHost } from '../support/local-host.ts';

const admitted = (answers: readonly Answer[]) => answers.filter(({ status }) => status === 200);
const remaining = (answers: readonly Answer[]) =>
  admitted(answers)
    .map(({ rateLimit }) => rateLimit.remaining)
    .toSorted((a, b) => a - b);
const from0To = (last: number) => Array.from({ length: last + 1 }, (_, index) => index);

describe('Rate limits', () => {
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

  beforeEach(() => clock.moveToFreshMinute());

  const apiOf = ({ token }: IssuedKey) => ApiClient.withKey(host.baseUrl, token);

  const listAtOnce = (key: IssuedKey, count: number) =>
    Promise.all(Array.from({ length: count }, () => apiOf(key).list()));

  describe('Of hundreds of requests at once', () => {
    test('as many are admitted as the minute has room for, then as many as the day has room for', async () => {
      const key = await issueKey(host, { perMinute: 60, perDay: 100 });

      const first = await listAtOnce(key, 300);
      expect(remaining(first)).toEqual(from0To(59));
      expect(new Set(first.map(({ status }) => status))).toEqual(new Set([200, 429]));
      for (const { rateLimit } of admitted(first)) {
        expect(rateLimit).toMatchObject({ limit: 60, reset: clock.endOfMinute });
      }

      clock.moveToFreshMinute();
      const second = await listAtOnce(key, 300);
      expect(remaining(second)).toEqual(from0To(39));
      expect(new Set(second.map(({ status }) => status))).toEqual(new Set([200, 429]));
      for (const { rateLimit } of admitted(second)) {
        expect(rateLimit).toMatchObject({ limit: 100, reset: clock.endOfDay });
      }

      clock.moveTo(clock.endOfDay * 1_000);
      expect(remaining(await listAtOnce(key, 100))).toEqual(from0To(59));
    });

    test('as many are admitted as there are, where there is room for exactly these', async () => {
      const key = await issueKey(host, { perMinute: 150, perDay: 150 });

      expect(remaining(await listAtOnce(key, 150))).toEqual(from0To(149));
      expect(await key.read()).toMatchObject({ minuteUsed: 150, dayUsed: 150, minuteRefused: 0 });
    });

    test('each key has its own', async () => {
      const keys = await Promise.all([20, 30, 40].map((perMinute) => issueKey(host, { perMinute })));
      const answers = await Promise.all(keys.map((key) => listAtOnce(key, 60)));

      expect(answers.map((ofKey) => admitted(ofKey).length)).toEqual([20, 30, 40]);
    });
  });

  test('the usage plan of a plan lets two full minutes through back to back', async () => {
    const key = await issueKey(host, { plan: 'free', perMinute: 60, perDay: 1_000 });
    clock.moveTo(clock.endOfMinute * 1_000 - 1);
    const endOfFirst = await listAtOnce(key, 60);
    clock.moveTo(clock.now + 1);
    const startOfSecond = await listAtOnce(key, 60);

    expect(admitted([...endOfFirst, ...startOfSecond])).toHaveLength(120);
  });

  describe('A request that is admitted counts once, whatever its answer', () => {
    test.each<[number, string, (api: ApiClient) => Promise<Answer>]>([
      [200, 'list', (api) => api.list()],
      [200, 'update', (api) => api.setQuantity(101, 5)],
      [400, 'invalid body', (api) => api.patch(101, '{}')],
      [400, 'invalid petId', (api) => api.setQuantity('rex', 5)],
      [404, 'unknown pet', (api) => api.setQuantity(999, 5)],
      [404, 'unknown path', (api) => api.send('GET', '/nowhere')],
      [405, 'other method', (api) => api.send('DELETE', '/inventory')],
      [405, 'HEAD', (api) => api.send('HEAD', '/inventory')],
      [413, 'large body', (api) => api.patch(101, ' '.repeat(20_000))],
      [415, 'text', (api) => api.send('PATCH', '/inventory/101', { body: '{"quantity":5}' })],
    ])('%i %s', async (status, _, send) => {
      const key = await issueKey(host, { perMinute: 10 });
      const answer = await send(apiOf(key));

      expect(answer).toMatchObject({ status, rateLimit: { limit: 10, remaining: 9, reset: clock.endOfMinute } });
      expect(await key.read()).toMatchObject({ minuteUsed: 1, dayUsed: 1 });
    });
  });

  test('a body that is longer than an invocation carries counts too, though the gateway refuses it', async () => {
    const key = await issueKey(host, { perMinute: 10 });
    const answer = await apiOf(key).patch(101, ' '.repeat(7_000_000));

    expect(answer.status).toBe(413);
    expect(await key.read()).toMatchObject({ minuteUsed: 1, dayUsed: 1 });
  });

  describe('A request that is not admitted does not count', () => {
    test('refused for the minute', async () => {
      const key = await issueKey(host, { perMinute: 10 });
      const answers = await listAtOnce(key, 15);

      expect(admitted(answers)).toHaveLength(10);
      expect(await key.read()).toMatchObject({ minuteUsed: 10, dayUsed: 10 });
    });

    test('not authenticated', async () => {
      const key = await issueKey(host, { perMinute: 10 });
      const api = apiOf(key);
      await api.list();
      await new ApiClient(host.baseUrl, key.token).list();
      await ApiClient.withKey(host.baseUrl, `${key.token}x`).list();
      await key.change({ enabled: false });
      await api.list();

      expect(await key.read()).toMatchObject({ minuteUsed: 1, dayUsed: 1, minuteRefused: 0 });
    });

    test('dropped by the gateway before anyone is asked, because its body is over 10 MB', async () => {
      const key = await issueKey(host, { perMinute: 10 });
      const answer = await apiOf(key).patch(101, ' '.repeat(10 * 1024 * 1024 + 1));

      expect(answer).toMatchObject({ status: 413, rateLimit: { limit: 0, remaining: 0, reset: 0 } });
      expect(await key.read()).toMatchObject({ minuteUsed: 0 });
    });
  });

  describe('The headers tell of the window with the least left', () => {
    test.each([
      ['the minute', { perMinute: 10, perDay: 1_000, dayUsed: 980 }, { limit: 10, remaining: 9 }, 'endOfMinute'],
      ['the day', { perMinute: 10, perDay: 1_000, dayUsed: 995 }, { limit: 1_000, remaining: 4 }, 'endOfDay'],
      ['the day, on a tie', { perMinute: 10, perDay: 1_000, dayUsed: 990 }, { limit: 1_000, remaining: 9 }, 'endOfDay'],
    ] as const)('%s', async (_, record, expected, end) => {
      const key = await issueKey(host, { ...record, currentMinute: clock.now / 60_000 });

      expect((await apiOf(key).list()).rateLimit).toEqual({ ...expected, reset: clock[end] });
    });
  });

  describe('Limits that are changed count from the very next request on', () => {
    test('raised, within a second where the key was refused', async () => {
      const key = await issueKey(host, { perMinute: 1 });
      await apiOf(key).list();
      const before = await apiOf(key).list();
      await key.change({ perMinute: 3, minuteRefused: 0, suspendedUntil: 0 });
      clock.moveTo(clock.now + 1_000);

      expect(before.status).toBe(429);
      expect(await apiOf(key).list()).toMatchObject({ status: 200, rateLimit: { limit: 3, remaining: 1 } });
    });

    test('lowered below what is used', async () => {
      const key = await issueKey(host, { perMinute: 10 });
      await listAtOnce(key, 5);
      await key.change({ perMinute: 4 });

      expect(await apiOf(key).list()).toMatchObject({ status: 429, rateLimit: { limit: 4, remaining: 0 } });
    });

    test('the day’s', async () => {
      const key = await issueKey(host, { perDay: 10 });
      await listAtOnce(key, 5);
      await key.change({ perDay: 5 });

      expect(await apiOf(key).list()).toMatchObject({ status: 429, error: { code: 'DAILY_QUOTA_EXCEEDED' } });
    });
  });
});
