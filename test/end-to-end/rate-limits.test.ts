import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { KeyRecord } from '../../shared/keys/key-record.ts';
import { type Answer, ApiClient } from '../support/api-client.ts';
import { HostClock } from '../support/host-clock.ts';
import { type IssuedKey, issueKey } from '../support/issue-key.ts';
import { LocalHost } from '../support/local-host.ts';

const SUSPENSION_SECONDS = 300;

const retryAfter = ({ headers }: Answer) => Number(headers.get('Retry-After'));
const admitted = (answers: readonly Answer[]) => answers.filter(({ status }) => status === 200);
const remaining = (answers: readonly Answer[]) =>
  admitted(answers)
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
const listAtOnce = (key: IssuedKey, count: number) => Promise.all(Array.from({ length: count }, () => list(key)));

/** Requests one after the other; the last one's answer. */
async function listRepeatedly(key: IssuedKey, count: number): Promise<Answer> {
  for (let done = 1; done < count; done++) await list(key);
  return list(key);
}

describe('Rate limits', () => {
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
  });

  describe('A request that is admitted counts once, whatever its answer', () => {
    test.each<[number, string, (api: ApiClient) => Promise<Answer>]>([
      [400, 'invalid body', (api) => api.patch(101, '{}')],
      [404, 'unknown path', (api) => api.send('GET', '/nowhere')],
      [200, 'HEAD', (api) => api.send('HEAD', '/inventory')],
      [405, 'another method', (api) => api.send('DELETE', '/inventory')],
      [413, 'a body beyond what an invocation carries', (api) => api.patch(101, ' '.repeat(7_000_000))],
    ])('%i %s', async (status, _, send) => {
      const key = await issueKey(host, { perMinute: 10 });
      const answer = await send(apiOf(key));

      expect(answer).toMatchObject({ status });
      expect(await key.read()).toMatchObject({ minuteUsed: 1, dayUsed: 1 });
    });
  });

  describe('A request that is not admitted does not count', () => {
    test('dropped by the gateway before anyone is asked, because its body is over 10 MB', async () => {
      const key = await issueKey(host, { perMinute: 10 });
      const answer = await apiOf(key).patch(101, ' '.repeat(10 * 1024 * 1024 + 1));

      expect(answer).toMatchObject({ status: 413, rateLimit: { limit: 0, remaining: 0, reset: 0 } });
      expect(await key.read()).toMatchObject({ minuteUsed: 0 });
    });
  });
});

/** A key that was told to wait as often as it may make requests, and the last answer it got. */
async function suspendedKey(differences: Partial<KeyRecord> = {}): Promise<{ key: IssuedKey; answer: Answer }> {
  const key = await issueKey(host, { perMinute: 4, ...differences });
  return { key, answer: await listRepeatedly(key, 8) };
}

/** Uses the usage plan of a key, as so many requests would, one a second. Moves the clock on to the last one. */
async function useUsagePlan(key: IssuedKey, requests: number): Promise<void> {
  const { keyHash } = await key.read();
  for (let done = 0; done < requests; done++) {
    clock.moveTo(clock.now + 1_000);
    host.host.usageMeter.meter(keyHash, clock.now);
  }
}

describe('429', () => {
  describe('RATE_LIMIT_EXCEEDED', () => {
    test('when the minute is used up, until it ends', async () => {
      const key = await issueKey(host, { perMinute: 3 });
      const answer = await listRepeatedly(key, 4);

      expect(answer).toMatchObject({
        status: 429,
        error: { code: 'RATE_LIMIT_EXCEEDED' },
        rateLimit: { limit: 3, remaining: 0, reset: clock.endOfMinute },
      });
      expect(retryAfter(answer)).toBe(20);
    });

    test('for every operation and path, and nothing is done', async () => {
      const key = await issueKey(host, {
        perMinute: 100,
        minuteUsed: 100,
        currentMinute: Math.floor(clock.now / 60_000),
      });
      const api = ApiClient.withKey(host.baseUrl, key.token);
      const before = (await list(await issueKey(host))).text;
      const answers = [await api.setQuantity(101, 321), await api.send('GET', '/nowhere')];

      expect(answers.map(({ status }) => status)).toEqual([429, 429]);
      expect((await list(await issueKey(host))).text).toBe(before);
    });
  });

  describe('DAILY_QUOTA_EXCEEDED', () => {
    test('when the day is used up, until it ends', async () => {
      const key = await issueKey(host, { perMinute: 10, perDay: 3 });
      const answer = await listRepeatedly(key, 4);

      expect(answer).toMatchObject({
        status: 429,
        error: { code: 'DAILY_QUOTA_EXCEEDED' },
        rateLimit: { limit: 3, remaining: 0, reset: clock.endOfDay },
      });
      expect(retryAfter(answer)).toBe(clock.endOfDay - clock.now / 1_000);
    });
  });

  describe('TOO_MANY_REQUESTS', () => {
    test('from the gateway’s own throttle, where a record has more than the usage plan of its key', async () => {
      const key = await issueKey(host, { plan: 'free', perMinute: 5_000 });
      const answers = await Promise.all(Array.from({ length: 122 }, () => list(key)));
      const refused = answers.filter(({ status }) => status === 429);

      expect(refused.map(({ error }) => error?.code)).toEqual(['TOO_MANY_REQUESTS', 'TOO_MANY_REQUESTS']);
      expect(refused.map(retryAfter)).toEqual([1, 1]);
    });

    test('from the gateway’s own quota, where a record has more than the usage plan of its key', async () => {
      const key = await issueKey(host, { plan: 'free', perDay: 5_000 });
      await useUsagePlan(key, 1_059);
      const last = await list(key);

      expect(last.status).toBe(200);
      expect(await list(key)).toMatchObject({ status: 429, error: { code: 'TOO_MANY_REQUESTS' } });
    });

    test('for refusals beyond a hundred a second', async () => {
      const key = await issueKey(host, { perMinute: 5_000, suspendedUntil: clock.now + 3_600_000 });
      const answers = await Promise.all(Array.from({ length: 280 }, () => list(key)));
      const codes = new Set(answers.map(({ error }) => error?.code));

      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([429]));
      expect(codes).toContain('TOO_MANY_REQUESTS');
      expect(codes.size).toBe(2);
      expect(Math.min(...answers.map(retryAfter))).toBeGreaterThanOrEqual(1);
    });
  });

  describe('API_KEY_SUSPENDED', () => {
    test('for a key that is refused as often within the minute as its limit, for five minutes', async () => {
      const { answer } = await suspendedKey();

      expect(answer).toMatchObject({
        status: 429,
        error: { code: 'API_KEY_SUSPENDED' },
        rateLimit: { limit: 4, remaining: 0, reset: clock.now / 1_000 + SUSPENSION_SECONDS },
      });
      expect(retryAfter(answer)).toBe(SUSPENSION_SECONDS);
    });
  });
});
