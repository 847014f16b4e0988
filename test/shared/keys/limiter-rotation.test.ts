import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { KeyRecord } from '../../../shared/keys/key-record.ts';
import { Limiter } from '../../../shared/keys/limiter.ts';
import type { Verdict } from '../../../shared/keys/verdict.ts';
import { countWrites } from '../../support/counted-writes.ts';
import { describeOnEachEngine } from '../../support/engines.ts';
import { aKey } from '../../support/key-records.ts';
import { KeysTable } from '../../support/keys-table.ts';
import { patientClient } from '../../support/patient-client.ts';

const NOW = Date.UTC(2025, 5, 15, 12, 34, 30);
const MINUTE = Math.floor(NOW / 60_000);
const GRACE_ENDS = NOW + 86_400_000;

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
    const leased = { perMinute: 6_000, perDay: 1_000_000, currentMinute: MINUTE } as const;

    test('is admitted from memory', async () => {
      const { old } = await rotate(leased);
      const count = countWrites(client);
      for (let sent = 0; sent < 500; sent++) await admit(old, NOW + sent);

      expect(count.writes).toBeLessThan(400);
    });

    test('gives back to its successor what it did not use', async () => {
      const { old, successor } = await rotate(leased);
      await outcomes(20, old);
      await outcomes(1, old, NOW + 25_000);

      expect(await table.read(successor)).toMatchObject({ minuteUsed: 21, dayUsed: 21 });
    });
  });
});
