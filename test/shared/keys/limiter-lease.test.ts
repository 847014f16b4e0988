import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { KeyRecord } from '../../../shared/keys/key-record.ts';
import { LEASE_MS } from '../../../shared/keys/lease.ts';
import { Limiter } from '../../../shared/keys/limiter.ts';
import type { Verdict } from '../../../shared/keys/verdict.ts';
import { countWrites, type WriteCount } from '../../support/recorded-calls.ts';
import { describeOnEachEngine, patientClient } from '../../support/engines.ts';
import { aKey, KeysTable } from '../../support/tables.ts';

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
    await send(120, key, NOW, 1);
    let sent = 120;
    for (; (await table.read(key)).dayUsed === sent; sent++) await send(1, key, NOW + sent);
    return sent;
  }

  describe('is written', () => {
    test('for a fifth of them, once their pace is known', async () => {
      const key = await table.issue(leased);

      expect(await writesOf(() => send(300, key, NOW, 1))).toBeLessThanOrEqual(150);
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
      ['the minute', { perMinute: 301 }],
      ['the rest of a day', { dayUsed: 999_699, currentMinute: MINUTE - 1 }],
    ])('to the request: %s', async (_, differences) => {
      const key = await table.issue({ ...leased, ...differences });
      const verdicts = await send(320, key, NOW, 1);

      expect(verdicts.map(outcomeOf).indexOf('admitted', 301)).toBe(-1);
      expect(verdicts.filter(({ kind }) => kind === 'admitted')).toHaveLength(301);
    });
  });

  describe('gets back what was not used', () => {
    test.each([
      ['in both windows within the minute', 25_000, (sent: number) => ({ minuteUsed: sent + 1, dayUsed: sent + 1 })],
      ['in the day after the minute', 3_600_000, (sent: number) => ({ minuteUsed: 1, dayUsed: sent + 1 })],
    ])('%s', async (_, later, expected) => {
      const key = await table.issue(leased);
      const sent = await hurry(key);
      await send(1, key, NOW + later);

      expect(await table.read(key)).toMatchObject(expected(sent));
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

const GRACE_ENDS = NOW + 86_400_000;

interface Rotated {
  readonly old: KeyRecord;
  readonly successor: KeyRecord;
}

describeOnEachEngine('A rotated key', () => {
  let client: DynamoDBDocumentClient;
  let table: KeysTable;
  let limiter: Limiter;

  beforeAll(async () => {
    client = patientClient();
    table = await KeysTable.create(client);
  });

  beforeEach(() => {
    limiter = new Limiter(client, table.name);
  });

  /** Two keys, the first rotated to the second. */
  async function rotate(ofSuccessor: Partial<KeyRecord> = {}, ofOld: Partial<KeyRecord> = {}): Promise<Rotated> {
    const successor = await table.issue({ name: 'successor', ...ofSuccessor });
    const old = await table.issue({ expiresAt: GRACE_ENDS, replacedBy: successor.keyHash, ...ofOld });
    return { old, successor };
  }

  const admit = ({ keyHash }: KeyRecord, now = NOW): Promise<Verdict> => limiter.admit(keyHash, now);

  async function outcomes(times: number, key: KeyRecord, now = NOW): Promise<string[]> {
    const seen: string[] = [];
    for (let time = 0; time < times; time++) seen.push(outcomeOf(await admit(key, now)));
    return seen;
  }

  describe('and its successor', () => {
    test('count as one', async () => {
      const { old, successor } = await rotate({ perMinute: 3 });

      expect(await outcomes(2, old)).toEqual(['admitted', 'admitted']);
      expect(await outcomes(2, successor)).toEqual(['admitted', 'minute']);
      expect(await outcomes(1, old)).toEqual(['minute']);
    });

    test('have their count with the successor, and none with the old key', async () => {
      const { old, successor } = await rotate({ currentMinute: MINUTE, minuteUsed: 2, dayUsed: 7 });
      await admit(old);
      await admit(successor);

      expect(await table.read(old)).toEqual(old);
      expect(await table.read(successor)).toMatchObject({ minuteUsed: 4, dayUsed: 9 });
    });
  });

  test('has the limits of its successor, not its own', async () => {
    const { old } = await rotate(
      { perMinute: 2 },
      { perMinute: 1, currentMinute: MINUTE, minuteUsed: 1, dayUsed: 1_000 },
    );

    expect(await outcomes(3, old)).toEqual(['admitted', 'admitted', 'minute']);
  });

  test('is admitted as its successor', async () => {
    const { old, successor } = await rotate();

    expect(await admit(old)).toMatchObject({
      kind: 'admitted',
      key: { keyHash: successor.keyHash, name: 'successor' },
    });
  });

  describe('is denied', () => {
    test('from its end on, to the millisecond, while its successor is admitted', async () => {
      const { old, successor } = await rotate();

      expect(await outcomes(1, old, GRACE_ENDS - 1)).toEqual(['admitted']);
      expect(await outcomes(1, old, GRACE_ENDS)).toEqual(['denied']);
      expect(await outcomes(1, successor, GRACE_ENDS)).toEqual(['admitted']);
    });

    test.each<[string, Partial<KeyRecord>, Partial<KeyRecord>]>([
      ['it is disabled', {}, { enabled: false }],
      ['its successor is disabled', { enabled: false }, {}],
      ['its successor has ended', { expiresAt: NOW }, {}],
      ['its successor is gone', {}, { replacedBy: '00'.repeat(32) }],
      ['its successor was rotated to a key that is gone', { replacedBy: '00'.repeat(32) }, {}],
    ])('where %s', async (_, ofSuccessor, ofOld) => {
      const { old, successor } = await rotate(ofSuccessor, ofOld);

      expect(await outcomes(1, old)).toEqual(['denied']);
      expect(await table.read(successor)).toEqual(successor);
    });
  });

  test('whose successor was rotated too counts as one with both', async () => {
    const { old: second, successor: third } = await rotate({ perMinute: 3 });
    const first = await table.issue({ expiresAt: GRACE_ENDS, replacedBy: second.keyHash });

    expect([...(await outcomes(1, first)), ...(await outcomes(1, second)), ...(await outcomes(2, third))]).toEqual([
      'admitted',
      'admitted',
      'admitted',
      'minute',
    ]);
    expect(await table.read(third)).toMatchObject({ minuteUsed: 3, minuteRefused: 1 });
  });

  test.each([
    ['itself', 1],
    ['a key that was rotated back to it', 2],
    ['a key from which the way leads back to it', 3],
  ])('to %s is denied, not waited for', async (_, length) => {
    const hashes = Array.from({ length }, () => aKey().keyHash);
    for (const [index, keyHash] of hashes.entries()) {
      await table.issue({ keyHash, replacedBy: hashes[(index + 1) % length] });
    }

    expect(await limiter.admit(hashes[0] ?? '', NOW)).toEqual({ kind: 'denied' });
  });

  describe('whose successor is leased', () => {
    test('is admitted from memory', async () => {
      const { old } = await rotate(leased);
      const count = countWrites(client);
      for (let sent = 0; sent < 500; sent++) await admit(old, NOW + sent);

      expect(count.writes).toBeLessThan(400);
    });
  });
});
