import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { KeyRecord } from '../../../shared/keys/key-record.ts';
import { UNTIL_RESUMED } from '../../../shared/keys/verdict.ts';
import { LEASE_MS } from '../../../shared/keys/remembered-key.ts';
import { Limiter } from '../../../shared/keys/limiter.ts';
import { recordCalls } from '../../support/recorded-calls.ts';
import { EmbeddedDatabase } from '../../support/engines.ts';
import { aKey, KeysTable, outcomesOf } from '../../support/tables.ts';

const NOW = Date.UTC(2025, 5, 15, 12, 34, 30);
const MINUTE = Math.floor(NOW / 60_000);
const GRACE_ENDS = NOW + 86_400_000;
const busy = { perMinute: 6_000, perDay: 1_000_000, currentMinute: MINUTE } as const;

const database = new EmbeddedDatabase();
let table: KeysTable;
let limiter: Limiter;
let calls: ReturnType<typeof recordCalls>;

beforeAll(async () => {
  table = await KeysTable.create(database.client);
  calls = recordCalls(database.client);
});

beforeEach(() => {
  limiter = new Limiter(database.client, table.name);
});

const outcomes = (count: number, key: KeyRecord, now = NOW) => outcomesOf(limiter, count, key, now);

async function writesOf(work: () => Promise<unknown>): Promise<number> {
  const before = calls.length;
  await work();
  return calls.slice(before).filter(({ command }) => command === 'UpdateItemCommand').length;
}

/** When the requests of {@link hurry} are over. */
const HURRIED = NOW + 100;
/** Requests that others have made by then, so that leases are due, and that are in the table, these two included. */
const OTHERS = 200;
const COUNTED = OTHERS + 2;
/** Requests that the next write takes then. */
const LEASE = 5;

/** Lets the environment see that requests come faster than one item can be written: most are those of others. */
async function hurry(key: KeyRecord, counted = key, later = 0): Promise<void> {
  await outcomes(1, key, NOW + later);
  const { minuteUsed, dayUsed, ...rest } = await table.read(counted);
  await table.issue({ ...rest, minuteUsed: minuteUsed + OTHERS, dayUsed: dayUsed + OTHERS });
  await outcomes(1, key, HURRIED + later);
}

describe('A key whose requests come faster than it can be written', () => {
  test('is written once for several of them', async () => {
    const key = await table.issue(busy);
    await hurry(key);

    expect(await writesOf(() => outcomes(LEASE, key, HURRIED))).toBe(1);
    expect(await table.read(key)).toMatchObject({ minuteUsed: COUNTED + LEASE, dayUsed: COUNTED + LEASE });
  });

  test.each([
    ['its requests come slower', busy, 50],
    ['little is left of its minute', { ...busy, perMinute: COUNTED + 20 }, 0],
  ])('is written for each request where %s', async (_, differences, later) => {
    const key = await table.issue(differences);
    if (later === 0) await hurry(key);

    expect(await writesOf(() => outcomes(1, key, HURRIED + later))).toBe(1);
    expect(await writesOf(() => outcomes(4, key, HURRIED + 2 * later))).toBe(4);
  });

  test.each([
    ['the minute', { perMinute: COUNTED + 300 }, 'minute'],
    ['the rest of a day', { perDay: COUNTED + 300 }, 'day'],
  ])('has its whole limit for one environment, to the request: %s', async (_, differences, reason) => {
    const key = await table.issue({ ...busy, ...differences });
    await hurry(key);

    expect(await outcomes(302, key, HURRIED)).toEqual([
      ...Array.from({ length: 300 }, () => 'admitted'),
      reason,
      reason,
    ]);
  });

  test.each([
    ['in both windows within the minute', 25_000, { minuteUsed: COUNTED + 2, dayUsed: COUNTED + 2 }],
    ['in the day after the minute', 3_600_000, { minuteUsed: 1, dayUsed: COUNTED + 2 }],
  ])('gets back what was not used: %s', async (_, later, expected) => {
    const key = await table.issue(busy);
    await hurry(key);
    await outcomes(1, key, HURRIED);
    await outcomes(1, key, NOW + later);

    expect(await table.read(key)).toMatchObject(expected);
  });

  test('counts in the minute of each request: a lease ends with its minute', async () => {
    const key = await table.issue(busy);
    // A lease is taken in the last tenth of a second of the minute.
    const late = 29_900 - 100;
    await hurry(key, key, late);
    await outcomes(1, key, HURRIED + late);

    expect(await writesOf(() => outcomes(1, key, NOW + 30_050))).toBe(1);
    expect(await table.read(key)).toMatchObject({ currentMinute: MINUTE + 1, minuteUsed: LEASE });
  });

  test('is denied from its end on, in the middle of a lease', async () => {
    const key = await table.issue({ ...busy, expiresAt: HURRIED + 1 });
    await hurry(key);

    expect(await outcomes(2, key, HURRIED)).toEqual(['admitted', 'admitted']);
    expect(await outcomes(1, key, HURRIED + 1)).toEqual(['denied']);
  });

  test('that is deleted and made again is given nothing back that was taken from it before', async () => {
    const key = await table.issue(busy);
    await hurry(key);
    await outcomes(1, key, HURRIED);
    await table.issue({ ...busy, keyHash: key.keyHash, keyId: 'another' });

    expect(await outcomes(1, key, NOW + 2 * LEASE_MS)).toEqual(['admitted']);
    expect(await table.read(key)).toMatchObject({ minuteUsed: 1 });
  });
});

describe('A key that is used up', () => {
  const usedUp = { perMinute: 5, minuteUsed: 5, currentMinute: MINUTE } as const;

  test('is refused without a write for the time of a lease, and no longer', async () => {
    const key = await table.issue(usedUp);
    await outcomes(1, key);
    await table.issue({ ...(await table.read(key)), perMinute: 6 });

    expect(await writesOf(() => outcomes(2, key, NOW + LEASE_MS - 1))).toBe(0);
    expect(await outcomes(1, key, NOW + LEASE_MS)).toEqual(['admitted']);
  });

  test('has refusals from memory counted with the next write, and is suspended for them too', async () => {
    const key = await table.issue(usedUp);

    expect(await outcomes(4, key)).toEqual(['minute', 'minute', 'minute', 'minute']);
    expect(await table.read(key)).toMatchObject({ minuteRefused: 1 });
    expect(await outcomes(1, key)).toEqual(['suspended']);
    expect(await table.read(key)).toMatchObject({ minuteUsed: 5, minuteRefused: 5 });
  });
});

describe('A key that is denied, or suspended,', () => {
  const suspended = { suspendedUntil: NOW + 300_000, currentMinute: MINUTE - 2, minuteUsed: 60, dayUsed: 60 } as const;

  test.each<[string, Partial<KeyRecord> | undefined, string]>([
    ['unknown', undefined, 'denied'],
    ['revoked', { revoked: true, enabled: false }, 'denied'],
    ['disabled', { enabled: false }, 'denied'],
    ['expired', { expiresAt: NOW }, 'denied'],
    ['suspended until it is resumed', { suspendedUntil: UNTIL_RESUMED, suspendedByAdmin: true }, 'denied'],
    ['suspended since an earlier minute', suspended, 'suspended'],
  ])('is so with one write a second, and no longer than that: %s', async (_, state, outcome) => {
    const key = state ? await table.issue(state) : aKey();

    expect(await writesOf(() => outcomes(1, key))).toBe(1);
    expect(await writesOf(async () => expect(await outcomes(1, key, NOW + LEASE_MS - 1)).toEqual([outcome]))).toBe(0);
    await table.issue(aKey({ keyHash: key.keyHash }));
    expect(await outcomes(1, key, NOW + LEASE_MS)).toEqual(['admitted']);
    expect(await outcomes(1, key, NOW + LEASE_MS - 1)).toEqual(['admitted']);
  });

  test('is not for a request from before its end, or from another second', async () => {
    const key = await table.issue({ expiresAt: NOW });

    expect(await outcomes(1, key)).toEqual(['denied']);
    expect(await outcomes(1, key, NOW - 1)).toEqual(['admitted']);
    const unknown = aKey();
    await outcomes(1, unknown);
    await table.issue(unknown);
    expect(await outcomes(1, unknown, NOW - LEASE_MS - 1)).toEqual(['admitted']);
  });

  test('pushes no lease of a good key out, however many of them there are', async () => {
    const key = await table.issue(busy);
    await hurry(key);
    await outcomes(1, key, HURRIED);
    for (let index = 0; index < 1_100; index++) await limiter.admit(aKey().keyHash, NOW);

    expect(await writesOf(() => outcomes(LEASE - 1, key, HURRIED))).toBe(0);
  });

  test('is not what the health check goes by: each makes its own call', async () => {
    expect(await writesOf(() => limiter.check())).toBe(1);
    expect(await writesOf(() => limiter.check())).toBe(1);
  });
});

test('A clock that was far ahead leaves no key refused, in the table or in memory', async () => {
  const ahead = NOW + 400 * 86_400_000;
  const key = await table.issue({ perMinute: 5, perDay: 5 });

  expect(await outcomes(12, key, Date.now() + ahead - NOW)).toContain('suspended');
  expect(await outcomes(1, key, Date.now())).toEqual(['admitted']);
  expect(await table.read(key)).toMatchObject({ minuteUsed: 1, dayUsed: 1 });
});

/** Two keys, the first rotated to the second. */
async function rotate(ofSuccessor: Partial<KeyRecord> = {}, ofOld: Partial<KeyRecord> = {}) {
  const successor = await table.issue({ name: 'successor', ...ofSuccessor });
  const old = await table.issue({ expiresAt: GRACE_ENDS, replacedBy: successor.keyHash, ...ofOld });
  return { old, successor };
}

describe('A rotated key', () => {
  test('counts as one with its successor, under the limits of that', async () => {
    const { old, successor } = await rotate({ perMinute: 3 }, { perMinute: 1, dayUsed: 1_000, currentMinute: MINUTE });

    expect(await outcomes(2, old)).toEqual(['admitted', 'admitted']);
    expect(await outcomes(2, successor)).toEqual(['admitted', 'minute']);
    expect(await outcomes(1, old)).toEqual(['minute']);
    expect(await table.read(old)).toEqual(old);
    expect(await table.read(successor)).toMatchObject({ minuteUsed: 3, dayUsed: 3 });
  });

  test('is admitted as its successor, which may have been rotated too', async () => {
    const { old: second, successor: third } = await rotate();
    const first = await table.issue({ expiresAt: GRACE_ENDS, replacedBy: second.keyHash });

    expect(await limiter.admit(first.keyHash, NOW)).toMatchObject({
      kind: 'admitted',
      key: { keyHash: third.keyHash, name: 'successor' },
    });
  });

  test('is denied from its end on, in the middle of a lease of its successor, which goes on', async () => {
    const { old, successor } = await rotate(busy, { expiresAt: HURRIED + 1 });
    await hurry(old, successor);

    expect(await outcomes(2, old, HURRIED)).toEqual(['admitted', 'admitted']);
    expect(await outcomes(1, old, HURRIED + 1)).toEqual(['denied']);
    expect(await outcomes(1, successor, HURRIED + 1)).toEqual(['admitted']);
  });

  test.each<[string, Partial<KeyRecord>, Partial<KeyRecord>]>([
    ['it is disabled', {}, { enabled: false }],
    ['its successor is disabled', { enabled: false }, {}],
    ['its successor is gone', {}, { replacedBy: '00'.repeat(32) }],
  ])('is denied where %s', async (_, ofSuccessor, ofOld) => {
    const { old, successor } = await rotate(ofSuccessor, ofOld);

    expect(await outcomes(1, old)).toEqual(['denied']);
    expect(await table.read(successor)).toEqual(successor);
  });

  test.each([1, 3])('is denied, not waited for, where %d of them lead in a circle', async (length) => {
    const hashes = Array.from({ length }, () => aKey().keyHash);
    for (const [index, keyHash] of hashes.entries()) {
      await table.issue({ keyHash, replacedBy: hashes[(index + 1) % length] });
    }

    expect(await limiter.admit(hashes[0] ?? '', NOW)).toEqual({ kind: 'denied' });
  });
});
