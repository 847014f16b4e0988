import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { beforeAll, expect, test } from '@jest/globals';
import type { KeyRecord } from '../../../shared/keys/key-record.ts';
import { Limiter } from '../../../shared/keys/limiter.ts';
import { describeOnEachEngine } from '../../support/engines.ts';
import { KeysTable } from '../../support/keys-table.ts';
import { patientClient } from '../../support/patient-client.ts';

const NOW = Date.UTC(2026, 10, 21, 12, 34, 30);
const MINUTE = NOW / 60_000 - 0.5;

describeOnEachEngine('Conflicts that a limiter tells of', () => {
  let client: DynamoDBDocumentClient;
  let keys: KeysTable;

  beforeAll(async () => {
    client = patientClient();
    keys = await KeysTable.create(client);
  });

  /** Limiters of two environments, which do what they do at the same time. */
  const twoLimiters = () => [new Limiter(client, keys.name), new Limiter(client, keys.name)] as const;

  test.each<[string, Partial<KeyRecord>, string]>([
    ['a request that has room', { currentMinute: MINUTE }, 'admitted'],
    ['the first of a minute', { currentMinute: MINUTE - 1 }, 'admitted'],
    ['the first of a minute, on a day that is used up', { currentMinute: MINUTE - 1, dayUsed: 1_000 }, 'refused'],
    ['one over the limit', { currentMinute: MINUTE, minuteUsed: 60 }, 'refused'],
    ['one of a suspended key', { currentMinute: MINUTE, suspendedUntil: NOW + 1 }, 'refused'],
    ['one of a disabled key', { enabled: false }, 'denied'],
    ['one that comes late, into the minute after its own', { currentMinute: MINUTE + 1 }, 'admitted'],
  ])('are none without others: %s', async (_, state, kind) => {
    const limiter = new Limiter(client, keys.name);
    const { keyHash } = await keys.issue(state);

    expect(await limiter.admit(keyHash, NOW)).toMatchObject({ kind });
    expect(limiter.takeConflicts()).toBe(0);
  });

  test('are none where a rotated key leads to its successor', async () => {
    const limiter = new Limiter(client, keys.name);
    const successor = await keys.issue({ currentMinute: MINUTE - 1 });
    const { keyHash } = await keys.issue({ replacedBy: successor.keyHash });

    expect(await limiter.admit(keyHash, NOW)).toMatchObject({ kind: 'admitted' });
    expect(limiter.takeConflicts()).toBe(0);
  });

  test('are none where a leased key is refused again and again', async () => {
    const limiter = new Limiter(client, keys.name);
    const full = { plan: 'enterprise', perMinute: 2_000, perDay: 100_000, minuteUsed: 2_000 } as const;
    const { keyHash } = await keys.issue({ ...full, currentMinute: MINUTE });
    for (const later of [0, 1_000, 2_000, 3_000]) {
      expect(await limiter.admit(keyHash, NOW + later)).toMatchObject({ kind: 'refused' });
    }

    expect(limiter.takeConflicts()).toBe(0);
  });

  test('are the writes that lost, where many begin a minute at the same time; each is told once', async () => {
    const { keyHash } = await keys.issue({ currentMinute: MINUTE - 1 });
    let conflicts = 0;
    // Chance decides how many find the old minute and go on at the same time.
    for (let minute = 0; conflicts === 0 && minute < 50; minute++) {
      const limiters = Array.from({ length: 8 }, () => new Limiter(client, keys.name));
      await Promise.all(limiters.map((limiter) => limiter.admit(keyHash, NOW + minute * 60_000)));
      const told = limiters.map((limiter) => limiter.takeConflicts());
      conflicts += told.reduce((sum, some) => sum + some, 0);
      expect(limiters.map((limiter) => limiter.takeConflicts())).toEqual(told.map(() => 0));
    }

    expect(conflicts).toBeGreaterThan(0);
  });

  test('are the writes on a lease whose key has changed meanwhile', async () => {
    const [limiter, other] = twoLimiters();
    const leased = { plan: 'enterprise', perMinute: 2_000, perDay: 100_000, currentMinute: MINUTE } as const;
    const key = await keys.issue(leased);
    await limiter.admit(key.keyHash, NOW);
    await keys.setLimits(key, 3_000, 100_000);

    expect(await limiter.admit(key.keyHash, NOW + 1_000)).toMatchObject({ kind: 'admitted' });
    expect(await other.admit(key.keyHash, NOW + 1_000)).toMatchObject({ kind: 'admitted' });
    expect([limiter.takeConflicts(), other.takeConflicts()]).toEqual([1, 0]);
  });
});
