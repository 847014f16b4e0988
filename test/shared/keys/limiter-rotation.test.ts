import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { KeyRecord } from '../../../shared/keys/key-record.ts';
import { LEASE_MS } from '../../../shared/keys/lease.ts';
import { Limiter } from '../../../shared/keys/limiter.ts';
import type { Verdict } from '../../../shared/keys/verdict.ts';
import { countWrites } from '../../support/counted-writes.ts';
import { describeOnEachEngine } from '../../support/engines.ts';
import { admittedOf, type Answer, Environments } from '../../support/environments.ts';
import { aKey } from '../../support/key-records.ts';
import { KeysTable } from '../../support/keys-table.ts';
import { patientClient } from '../../support/patient-client.ts';

const NOW = Date.UTC(2025, 5, 15, 12, 34, 30);
const MINUTE = Math.floor(NOW / 60_000);
const END_OF_MINUTE = Date.UTC(2025, 5, 15, 12, 35);
const GRACE_ENDS = NOW + 86_400_000;
const FIVE_MINUTES = 300_000;

interface Rotated {
  readonly old: KeyRecord;
  readonly successor: KeyRecord;
}

const outcomeOf = (verdict: Verdict): string => (verdict.kind === 'refused' ? verdict.reason : verdict.kind);

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

    test('are told one count, one below the other', async () => {
      const { old, successor } = await rotate({ perMinute: 3 });
      const remaining = [await admit(old), await admit(successor), await admit(old)];

      expect(remaining).toMatchObject([2, 1, 0].map((left) => ({ rateLimit: { limit: 3, remaining: left } })));
    });

    test('are admitted exactly as often as the limit allows, where their requests are concurrent', async () => {
      const { old, successor } = await rotate({ perMinute: 20, perDay: 30 });
      const environments = new Environments(client, table, 4);
      const at = (now: number) =>
        Promise.all([old, successor, old, successor].map(({ keyHash }) => each(environments, keyHash, now, 2)));

      expect(admittedOf((await at(NOW)).flat(2))).toBe(20);
      expect(admittedOf((await at(END_OF_MINUTE)).flat(2))).toBe(10);
    });

    test('are suspended together, for the refusals of both', async () => {
      const { old, successor } = await rotate({ perMinute: 4, currentMinute: MINUTE, minuteUsed: 4 });

      expect(await outcomes(2, old)).toEqual(['minute', 'minute']);
      expect(await outcomes(2, successor)).toEqual(['minute', 'suspended']);
      expect(await admit(old, NOW + 1)).toMatchObject({
        reason: 'suspended',
        key: { keyHash: successor.keyHash },
        rateLimit: { resetsAt: NOW + FIVE_MINUTES },
      });
    });
  });

  test('has the limits of its successor, not its own', async () => {
    const { old } = await rotate(
      { perMinute: 2 },
      { perMinute: 1, currentMinute: MINUTE, minuteUsed: 1, dayUsed: 1_000 },
    );

    expect(await outcomes(3, old)).toEqual(['admitted', 'admitted', 'minute']);
  });

  test('has the suspension of its successor, not its own', async () => {
    const { old } = await rotate({}, { suspendedUntil: NOW + FIVE_MINUTES });
    const { old: other } = await rotate({ suspendedUntil: NOW + FIVE_MINUTES });

    expect(await outcomes(1, old)).toEqual(['admitted']);
    expect(await outcomes(1, other)).toEqual(['suspended']);
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

  describe('whose successor was rotated too', () => {
    const counter = { perMinute: 3 } as const;

    /** Three keys: the first rotated to the second, that to the third. */
    async function rotateTwice(differences: Partial<KeyRecord>, ofOldest: Partial<KeyRecord> = {}) {
      const { old: second, successor: third } = await rotate(differences);
      const first = await table.issue({ expiresAt: GRACE_ENDS, ...ofOldest, replacedBy: second.keyHash });
      return [first, second, third] as const;
    }

    test('counts as one with both', async () => {
      const [first, second, third] = await rotateTwice(counter);

      expect([...(await outcomes(1, first)), ...(await outcomes(1, second)), ...(await outcomes(2, third))]).toEqual([
        'admitted',
        'admitted',
        'admitted',
        'minute',
      ]);
      expect(await table.read(third)).toMatchObject({ minuteUsed: 3, minuteRefused: 1 });
    });

    test.each([
      ['its own', { expiresAt: GRACE_ENDS - 2 }],
      ["its successor's", { expiresAt: GRACE_ENDS + 2 }],
    ])('ends with the first end on the way: %s', async (_, ofOldest) => {
      const end = Math.min(ofOldest.expiresAt, GRACE_ENDS);
      const [first] = await rotateTwice({ perMinute: 6_000, perDay: 1_000_000 }, ofOldest);

      expect(await outcomes(3, first, end - 1)).toEqual(['admitted', 'admitted', 'admitted']);
      expect(await outcomes(2, first, end)).toEqual(['denied', 'denied']);
    });
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
    const leased = { perMinute: 6_000, perDay: 1_000_000, currentMinute: MINUTE } as const;

    test('is admitted from memory', async () => {
      const { old } = await rotate(leased);
      const count = countWrites(client);
      for (let sent = 0; sent < 500; sent++) await admit(old, NOW + sent);

      expect(count.writes).toBeLessThan(400);
    });

    test('is denied from its end on, in the middle of a lease', async () => {
      const { old } = await rotate(leased, { expiresAt: NOW + 500 });

      expect(new Set(await outcomes(20, old, NOW + 499))).toEqual(new Set(['admitted']));
      expect(await outcomes(2, old, NOW + 500)).toEqual(['denied', 'denied']);
    });

    test('is denied from its end on, where it was refused before', async () => {
      const { old } = await rotate({ ...leased, minuteUsed: 6_000 }, { expiresAt: NOW + 500 });

      expect(await outcomes(2, old, NOW + 499)).toEqual(['minute', 'minute']);
      expect(await outcomes(2, old, NOW + 500)).toEqual(['denied', 'denied']);
    });

    test('is denied after the time of a lease, where the successor was disabled', async () => {
      const { old, successor } = await rotate(leased);
      await outcomes(20, old);
      await table.setEnabled(successor, false);

      expect(await outcomes(1, old, NOW + LEASE_MS)).toEqual(['denied']);
    });

    test('gives back to its successor what it did not use', async () => {
      const { old, successor } = await rotate(leased);
      await outcomes(20, old);
      await outcomes(1, old, NOW + 25_000);

      expect(await table.read(successor)).toMatchObject({ minuteUsed: 21, dayUsed: 21 });
    });

    test('gives nothing back to a key that never had its counters', async () => {
      const old = await table.issue(leased);
      await outcomes(20, old);
      const other = await table.issue({ currentMinute: MINUTE });
      await table.issue({ ...(await table.read(old)), replacedBy: other.keyHash });
      await outcomes(1, old, NOW + 25_000);

      expect(await table.read(other)).toMatchObject({ minuteUsed: 1, dayUsed: 1 });
    });

    test.each([
      ['the same minute', NOW + 25_000],
      ['the next minute', NOW + 60_000],
    ])(
      'gives back no more than it had taken, where it was rotated in the middle of a lease: in %s',
      async (_, later) => {
        const old = await table.issue(leased);
        await outcomes(20, old);
        // The successor starts with the counters of the old key.
        const { keyHash: __, ...counted } = await table.read(old);
        const successor = await table.issue(counted);
        await table.issue({ ...counted, keyHash: old.keyHash, replacedBy: successor.keyHash });
        await outcomes(5, old, later);

        expect((await table.read(successor)).dayUsed).toBeGreaterThanOrEqual(25);
      },
    );

    test('counts a request that comes late in the minute that the successor has moved on to', async () => {
      const { old, successor } = await rotate(leased);
      const verdicts = [await admit(old, END_OF_MINUTE), await admit(old, END_OF_MINUTE - 1)];

      expect(verdicts).toMatchObject([1, 2].map((minuteUsed) => ({ key: { currentMinute: MINUTE + 1, minuteUsed } })));
      expect(await table.read(successor)).toMatchObject({ currentMinute: MINUTE + 1 });
    });
  });
});

/** So many requests to each environment at the same time. */
const each = (environments: Environments, keyHash: string, now: number, times: number): Promise<Answer[][]> =>
  Promise.all(Array.from({ length: times }, () => environments.admitEach(keyHash, now)));
