import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { KeyRecord } from '../../shared/keys/key-record.ts';
import { type Answer, ApiClient } from '../support/api-client.ts';
import { HostClock } from '../support/host-clock.ts';
import { type IssuedKey, issueKey } from '../support/issue-key.ts';
import { LocalHost } from '../support/local-host.ts';

const SUSPENSION_SECONDS = 300;

const retryAfter = ({ headers }: Answer) => Number(headers.get('Retry-After'));

describe('429', () => {
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

  const list = ({ token }: IssuedKey) => ApiClient.withKey(host.baseUrl, token).list();

  /** Requests one after the other; the last one's answer. */
  async function listRepeatedly(key: IssuedKey, count: number): Promise<Answer> {
    for (let done = 1; done < count; done++) await list(key);
    return list(key);
  }

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

    test('Retry-After is rounded up, so that whoever waits that long is admitted', async () => {
      const key = await issueKey(host, { perMinute: 3 });
      clock.moveTo(clock.now + 300);
      const refusedAt = clock.now;
      const refused = await listRepeatedly(key, 4);
      clock.moveTo(clock.endOfMinute * 1_000 - 1);
      const tooEarly = await list(key);
      clock.moveTo(refusedAt + retryAfter(refused) * 1_000);

      expect(tooEarly.status).toBe(429);
      expect(retryAfter(tooEarly)).toBe(1);
      expect(await list(key)).toMatchObject({ status: 200, rateLimit: { remaining: 2 } });
    });

    test('for every operation and path, and nothing is done', async () => {
      const key = await issueKey(host, {
        perMinute: 100,
        minuteUsed: 100,
        currentMinute: Math.floor(clock.now / 60_000),
      });
      const api = ApiClient.withKey(host.baseUrl, key.token);
      const before = (await list(await issueKey(host))).text;
      const answers = [
        await api.list(),
        await api.setQuantity(101, 321),
        await api.patch(101, 'nonsense'),
        await api.send('DELETE', '/inventory'),
        await api.send('GET', '/nowhere'),
      ];

      expect(answers.map(({ status }) => status)).toEqual([429, 429, 429, 429, 429]);
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

    test('the end of the minute changes nothing, the end of the day does', async () => {
      const key = await issueKey(host, { perMinute: 10, perDay: 3 });
      await listRepeatedly(key, 4);
      clock.moveTo(clock.endOfMinute * 1_000);
      const nextMinute = await list(key);
      clock.moveTo(clock.endOfDay * 1_000 - 1);
      const lastMoment = await list(key);
      clock.moveTo(clock.now + 1);

      expect(nextMinute).toMatchObject({ status: 429, error: { code: 'DAILY_QUOTA_EXCEEDED' } });
      expect(lastMoment.status).toBe(429);
      expect(retryAfter(lastMoment)).toBe(1);
      expect(await list(key)).toMatchObject({ status: 200, rateLimit: { limit: 3, remaining: 2 } });
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

    test.each<[string, (now: number) => Partial<KeyRecord>]>([
      ['the minute', () => ({ perMinute: 300, minuteUsed: 300 })],
      ['the day', () => ({ perMinute: 5_000, dayUsed: 1_000 })],
      ['a suspension', (now) => ({ perMinute: 5_000, suspendedUntil: now + 3_600_000 })],
    ])('for refusals beyond a hundred a second, whatever the reason: %s', async (_, stateAt) => {
      const key = await issueKey(host, { ...stateAt(clock.now), currentMinute: Math.floor(clock.now / 60_000) });
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

    test('not for one that is refused once less', async () => {
      const key = await issueKey(host, { perMinute: 4 });

      expect(await listRepeatedly(key, 7)).toMatchObject({ error: { code: 'RATE_LIMIT_EXCEEDED' } });
      clock.moveTo(clock.endOfMinute * 1_000);
      expect(await list(key)).toMatchObject({ status: 200 });
    });

    test('the end of the minute does not free it, nor does its going on make it longer', async () => {
      const { key } = await suspendedKey();
      const suspendedAt = clock.now;
      clock.moveTo(clock.endOfMinute * 1_000);
      const nextMinute = await listRepeatedly(key, 10);
      clock.moveTo(suspendedAt + SUSPENSION_SECONDS * 1_000 - 1);
      const lastMoment = await list(key);
      clock.moveTo(suspendedAt + SUSPENSION_SECONDS * 1_000);

      expect(nextMinute).toMatchObject({ status: 429, error: { code: 'API_KEY_SUSPENDED' } });
      expect(retryAfter(nextMinute)).toBe(280);
      expect(lastMoment).toMatchObject({ status: 429, error: { code: 'API_KEY_SUSPENDED' } });
      expect(await list(key)).toMatchObject({ status: 200, rateLimit: { limit: 4, remaining: 3 } });
    });

    test('a record that is set back to an earlier minute stays suspended', async () => {
      const { key } = await suspendedKey();
      await key.change({ currentMinute: 0, minuteUsed: 0, minuteRefused: 0 });

      expect(await list(key)).toMatchObject({ status: 429, error: { code: 'API_KEY_SUSPENDED' } });
    });

    test('an admin frees it within a second', async () => {
      const { key } = await suspendedKey();
      await key.change({ suspendedUntil: 0, minuteUsed: 0, minuteRefused: 0 });
      clock.moveTo(clock.now + 1_000);

      expect(await list(key)).toMatchObject({ status: 200 });
    });

    test('a key without any of the day left comes back from it to DAILY_QUOTA_EXCEEDED', async () => {
      const { key, answer } = await suspendedKey({ perDay: 4 });
      clock.moveTo(clock.now + SUSPENSION_SECONDS * 1_000);

      expect(answer).toMatchObject({ error: { code: 'API_KEY_SUSPENDED' }, rateLimit: { reset: clock.endOfDay } });
      expect(await list(key)).toMatchObject({ status: 429, error: { code: 'DAILY_QUOTA_EXCEEDED' } });
    });

    test('a flood of a suspended key is refused to the last request, and leaves other keys alone', async () => {
      const { key } = await suspendedKey();
      const [other, ...flood] = await Promise.all([
        list(await issueKey(host)),
        ...Array.from({ length: 300 }, () => list(key)),
      ]);

      expect(other.status).toBe(200);
      expect(new Set(flood.map(({ status }) => status))).toEqual(new Set([429]));
    });
  });
});
