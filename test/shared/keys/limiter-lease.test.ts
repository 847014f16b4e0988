import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { KeyRecord } from '../../../shared/keys/key-record.ts';
import { LEASE_MS } from '../../../shared/keys/lease.ts';
import { Limiter } from '../../../shared/keys/limiter.ts';
import type { Verdict } from '../../../shared/keys/verdict.ts';
import { countWrites, type WriteCount } from '../../support/counted-writes.ts';
import { describeOnEachEngine } from '../../support/engines.ts';
import { KeysTable } from '../../support/keys-table.ts';
import { patientClient } from '../../support/patient-client.ts';

const NOW = Date.UTC(2025, 5, 15, 12, 34, 30);
const MINUTE = Math.floor(NOW / 60_000);

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
  });

  test('that is deleted and made again is given nothing back that was taken from it before', async () => {
    const key = await table.issue(leased);
    await hurry(key);
    await table.issue({ ...leased, keyHash: key.keyHash, keyId: 'another' });

    expect(await outcomes(1, key, NOW + 2 * LEASE_MS)).toEqual(['admitted']);
    expect((await table.read(key)).minuteUsed).toBeGreaterThanOrEqual(1);
  });
});
