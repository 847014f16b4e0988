import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { KeyRecord } from '../../../shared/keys/key-record.ts';
import { LEASE_MS } from '../../../shared/keys/lease.ts';
import { Limiter } from '../../../shared/keys/limiter.ts';
import type { Verdict } from '../../../shared/keys/verdict.ts';
import { countWrites, type WriteCount } from '../../support/counted-writes.ts';
import { describeOnEachEngine } from '../../support/engines.ts';
import { KeysTable } from '../../support/keys-table.ts';
import { LossyClient } from '../../support/lossy-client.ts';
import { patientClient } from '../../support/patient-client.ts';

const NOW = Date.UTC(2025, 5, 15, 12, 34, 30);
const MINUTE = Math.floor(NOW / 60_000);
const END_OF_MINUTE = Date.UTC(2025, 5, 15, 12, 35);
const FIVE_MINUTES = 300_000;

const leased = { perMinute: 6_000, perDay: 1_000_000, currentMinute: MINUTE } as const;

const outcomeOf = (verdict: Verdict): string => (verdict.kind === 'refused' ? verdict.reason : verdict.kind);

describeOnEachEngine('A key whose requests come faster than it can be written', () => {
  let client: DynamoDBDocumentClient;
  let table: KeysTable;
  let limiter: Limiter;
  let count: WriteCount;

  beforeAll(async () => {
    client = patientClient();
    table = await KeysTable.create(client);
    count = countWrites(client);
  });

  beforeEach(() => {
    limiter = new Limiter(client, table.name);
  });

  /** Sends requests one after the other, `apart` milliseconds from each other. */
  async function send(times: number, { keyHash }: KeyRecord, from = NOW, apart = 0): Promise<Verdict[]> {
    const verdicts: Verdict[] = [];
    for (let time = 0; time < times; time++) verdicts.push(await limiter.admit(keyHash, from + time * apart));
    return verdicts;
  }

  const outcomes = async (...request: Parameters<typeof send>): Promise<string[]> => [
    ...new Set((await send(...request)).map(outcomeOf)),
  ];

  async function writesOf(work: () => Promise<unknown>): Promise<number> {
    const before = count.writes;
    await work();
    return count.writes - before;
  }

  /** Changes the record as an admin does, while nothing is being counted. */
  const change = async (key: KeyRecord, differences: Partial<KeyRecord>): Promise<KeyRecord> =>
    table.issue({ ...(await table.read(key)), ...differences });

  /** Requests a millisecond apart, until the environment takes several with a write, and some of these are left. */
  async function hurry(key: KeyRecord): Promise<number> {
    await send(200, key, NOW, 1);
    let sent = 200;
    for (; (await table.read(key)).dayUsed === sent; sent++) await send(1, key, NOW + sent);
    return sent;
  }

  describe('is written', () => {
    test('for a fifth of them, once their pace is known', async () => {
      const key = await table.issue(leased);

      expect(await writesOf(() => send(500, key, NOW, 1))).toBeLessThanOrEqual(200);
    });

    test('for each request, where they come slower, whatever the limit is', async () => {
      const key = await table.issue({ ...leased, perMinute: 1_000_000 });

      expect(await writesOf(() => send(100, key, NOW, 2))).toBe(100);
      expect(await table.read(key)).toMatchObject({ minuteUsed: 100 });
    });

    test('for each request, once they come slower again', async () => {
      const key = await table.issue(leased);
      await send(500, key, NOW, 1);
      await send(1, key, NOW + 10_000);

      expect(await writesOf(() => send(20, key, NOW + 10_100, 100))).toBe(20);
    });

    test('for each request, where little is left', async () => {
      const key = await table.issue({ ...leased, minuteUsed: 5_795 });
      await send(200, key, NOW, 1);

      expect(await writesOf(() => send(5, key, NOW + 200, 1))).toBe(5);
    });
  });

  describe('has its whole limit for one environment,', () => {
    test.each([
      ['the minute', { perMinute: 1_001 }],
      ['the day', { perDay: 1_001 }],
      ['the rest of a minute', { minuteUsed: 4_999 }],
      ['the rest of a day', { dayUsed: 998_999, currentMinute: MINUTE - 1 }],
    ])('to the request: %s', async (_, differences) => {
      const key = await table.issue({ ...leased, ...differences });
      const verdicts = await send(1_100, key, NOW, 1);

      expect(verdicts.map(outcomeOf).indexOf('admitted', 1_001)).toBe(-1);
      expect(verdicts.filter(({ kind }) => kind === 'admitted')).toHaveLength(1_001);
    });

    test('with one less left from request to request, whether written or not', async () => {
      const key = await table.issue({ ...leased, perMinute: 1_001, perDay: 1_500 });
      const left = (await send(1_001, key, NOW, 1)).map((verdict) =>
        verdict.kind === 'denied' ? undefined : verdict.rateLimit.remaining,
      );

      expect(left).toEqual(Array.from({ length: 1_001 }, (_, index) => 1_000 - index));
    });

    test('with one less left of a day that ends sooner than the minute', async () => {
      const key = await table.issue({ ...leased, perDay: 500, dayUsed: 200 });

      expect(
        (await send(300, key, NOW, 1)).map((verdict) => 'rateLimit' in verdict && verdict.rateLimit),
      ).toMatchObject(Array.from({ length: 300 }, (_, index) => ({ limit: 500, remaining: 299 - index })));
    });
  });

  describe('gets back what was not used', () => {
    test.each([
      ['in both windows within the minute', 25_000, (sent: number) => ({ minuteUsed: sent + 1, dayUsed: sent + 1 })],
      ['in the day after the minute', 3_600_000, (sent: number) => ({ minuteUsed: 1, dayUsed: sent + 1 })],
      ['in no window after the day', 86_400_000, () => ({ minuteUsed: 1, dayUsed: 1 })],
    ])('%s', async (_, later, expected) => {
      const key = await table.issue(leased);
      const sent = await hurry(key);
      await send(1, key, NOW + later);

      expect(await table.read(key)).toMatchObject(expected(sent));
    });

    test('when its limits have changed', async () => {
      const key = await table.issue(leased);
      const sent = await hurry(key);
      await table.setLimits(key, 1_000, 1_000_000);
      await send(1, key, NOW + 25_000);

      expect(await table.read(key)).toMatchObject({ minuteUsed: sent + 1, dayUsed: sent + 1 });
    });
  });

  describe('that an admin changes', () => {
    test.each([
      ['disabled', { enabled: false }, 'denied'],
      ['suspended', { suspendedUntil: NOW + FIVE_MINUTES }, 'suspended'],
      ['given an end', { expiresAt: NOW + 1 }, 'denied'],
    ])('is no longer served after the time of a lease: %s', async (_, differences, outcome) => {
      const key = await table.issue(leased);
      const sent = await hurry(key);
      await change(key, differences);

      expect(await outcomes(3, key, NOW + sent + LEASE_MS)).toEqual([outcome]);
    });

    test('is served again after the time of a lease: no longer suspended', async () => {
      const key = await table.issue({ ...leased, suspendedUntil: NOW + FIVE_MINUTES });
      expect(await outcomes(3, key)).toEqual(['suspended']);
      await change(key, { suspendedUntil: 0 });

      expect(await outcomes(3, key, NOW + LEASE_MS)).toEqual(['admitted']);
    });

    test('is served again at once: enabled', async () => {
      const key = await table.issue({ ...leased, enabled: false });
      await send(2, key);
      await table.setEnabled(key, true);

      expect(await outcomes(3, key)).toEqual(['admitted']);
    });
  });

  test('is denied from its end on, in the middle of a lease', async () => {
    const key = await table.issue({ ...leased, expiresAt: NOW + 500 });
    expect(await outcomes(500, key, NOW, 1)).toEqual(['admitted']);

    expect(await outcomes(3, key, NOW + 500)).toEqual(['denied']);
  });

  describe('that is used up', () => {
    const usedUp = { ...leased, perMinute: 1_001, minuteUsed: 1_001 } as const;

    test('is refused without a write for the time of a lease', async () => {
      const key = await table.issue(usedUp);
      await send(1, key);

      expect(await writesOf(() => send(500, key, NOW, 1))).toBe(0);
    });

    test('has these refusals counted with the next one', async () => {
      const key = await table.issue(usedUp);
      await send(500, key);
      expect(await table.read(key)).toMatchObject({ minuteRefused: 1 });
      await send(1, key, NOW + LEASE_MS);

      expect(await table.read(key)).toMatchObject({ minuteUsed: 1_001, minuteRefused: 501 });
    });

    test.each([
      ['as often as its limit', 1_000, 'suspended'],
      ['once less', 999, 'minute'],
    ])('is suspended for refusals from memory too: %s', async (_, times, outcome) => {
      const key = await table.issue(usedUp);
      expect(await outcomes(times, key)).toEqual(['minute']);

      expect(await outcomes(1, key)).toEqual([outcome]);
    });

    test('is not suspended for requests while it was suspended', async () => {
      const key = await table.issue({ ...usedUp, suspendedUntil: NOW + LEASE_MS });
      expect(await outcomes(1_500, key)).toEqual(['suspended']);

      expect(await outcomes(1, key, NOW + LEASE_MS)).toEqual(['minute']);
    });

    test('is denied from its end on', async () => {
      const key = await table.issue({ ...usedUp, expiresAt: NOW + 500 });

      expect(await outcomes(3, key, NOW + 499)).toEqual(['minute']);
      expect(await outcomes(3, key, NOW + 500)).toEqual(['denied']);
    });

    test('is admitted from the first millisecond of the next minute on', async () => {
      const key = await table.issue(usedUp);

      expect(await outcomes(3, key, END_OF_MINUTE - 1)).toEqual(['minute']);
      expect(await outcomes(3, key, END_OF_MINUTE)).toEqual(['admitted']);
    });
  });

  test('that is deleted and made again is given nothing back that was taken from it before', async () => {
    const key = await table.issue(leased);
    await hurry(key);
    await table.issue({ ...leased, keyHash: key.keyHash, keyId: 'another' });

    expect(await outcomes(1, key, NOW + 2 * LEASE_MS)).toEqual(['admitted']);
    expect((await table.read(key)).minuteUsed).toBeGreaterThanOrEqual(1);
  });

  describe('whose write arrives while its answer is lost, and which is written again,', () => {
    let lossy: LossyClient;

    beforeEach(() => {
      lossy = new LossyClient();
      limiter = new Limiter(lossy.client, table.name);
    });

    test.each([
      ['the same minute', 25_000, 1],
      ['the next minute', 60_000, 0],
    ])('gets nothing back twice: in %s', async (_, pause, ofSameMinute) => {
      const key = await table.issue(leased);
      const sent = await hurry(key);
      lossy.lose((write) => write === 1);
      expect(await outcomes(1, key, NOW + pause)).toEqual(['admitted']);

      const { minuteUsed, dayUsed } = await table.read(key);
      expect(minuteUsed).toBeGreaterThanOrEqual(1 + ofSameMinute * sent);
      expect(dayUsed).toBeGreaterThanOrEqual(sent + 1);
    });

    test('is closer to its suspension by the one request at most', async () => {
      const key = await table.issue({ ...leased, minuteUsed: 6_000 });
      await send(500, key);
      lossy.lose((write) => write === 1);
      expect(await outcomes(1, key, NOW + LEASE_MS)).toEqual(['minute']);

      expect(await table.read(key)).toMatchObject({ minuteRefused: 502 });
    });
  });
});
