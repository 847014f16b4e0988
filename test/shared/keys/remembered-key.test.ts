import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { KeyRecord } from '../../../shared/keys/key-record.ts';
import { NEVER } from '../../../shared/keys/working-token.ts';
import { LEASE_MS } from '../../../shared/keys/remembered-key.ts';
import { Limiter } from '../../../shared/keys/limiter.ts';
import { recordCalls } from '../../support/recorded-calls.ts';
import { EmbeddedDatabase } from '../../support/engines.ts';
import { generateToken, type Token } from '../../../shared/keys/token.ts';
import { aKey, KeysTable, outcomesOf, parsed } from '../../support/tables.ts';

const NOW = Date.UTC(2025, 5, 15, 12, 34, 30);
const MINUTE = Math.floor(NOW / 60_000);
const busy = { perMinute: 120_000, perDay: 1_000_000, currentMinute: MINUTE } as const;

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

const outcomes = (count: number, key: KeyRecord, now = NOW, token?: Token) =>
  outcomesOf(limiter, count, key, now, token);

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
async function hurry(key: KeyRecord, later = 0): Promise<void> {
  await outcomes(1, key, NOW + later);
  const { minuteUsed, dayUsed, ...rest } = await table.read(key);
  await table.issue({ ...rest, minuteUsed: minuteUsed + OTHERS, dayUsed: dayUsed + OTHERS });
  await outcomes(1, key, HURRIED + later);
}

describe('A key whose requests come faster than it can be written', () => {
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

  test.each<[string, Partial<KeyRecord>]>([
    ['others have used the minute up but for two', { minuteUsed: busy.perMinute - 2 }],
    ['its limit of a day was lowered', { perDay: COUNTED + 2 }],
  ])('takes no lease on what it had before: %s', async (_, change) => {
    const key = await table.issue(busy);
    await hurry(key);
    await table.issue({ ...(await table.read(key)), ...change });
    const seen = await outcomes(6, key, HURRIED);

    expect(seen.filter((outcome) => outcome === 'admitted')).toHaveLength(2);
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
    await hurry(key, late);
    await outcomes(1, key, HURRIED + late);

    expect(await writesOf(() => outcomes(1, key, NOW + 30_050))).toBe(1);
    expect(await table.read(key)).toMatchObject({ currentMinute: MINUTE + 1, minuteUsed: LEASE });
  });

  test('that is deleted and made again is given nothing back that was taken from it before', async () => {
    const key = await table.issue(busy);
    await hurry(key);
    await outcomes(1, key, HURRIED);
    await table.issue({ ...key, keyId: 'another' });

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

  test('is not suspended again for refusals from before it was resumed, by a token that is new either', async () => {
    const key = await table.issue(usedUp);
    await outcomes(4, key);
    // A resumption within the same minute.
    await table.issue({ ...(await table.read(key)), minuteRefused: 0, revision: key.revision + 1 });
    const token = await table.addToken(key, { label: 'new' });

    expect(await outcomes(4, key, NOW + LEASE_MS, token)).toEqual(['minute', 'minute', 'minute', 'minute']);
    expect(await outcomes(1, key, NOW + LEASE_MS, token)).toEqual(['suspended']);
  });
});

describe('A key that is denied, or suspended,', () => {
  const suspended = { suspendedUntil: NOW + 300_000, currentMinute: MINUTE - 2, minuteUsed: 60, dayUsed: 60 } as const;

  test.each<[string, Partial<KeyRecord> | undefined, string]>([
    ['unknown', undefined, 'denied'],
    ['suspended until it is resumed', { suspendedUntil: NEVER, suspendedByAdmin: true }, 'denied'],
    ['suspended since an earlier minute', suspended, 'suspended'],
  ])('is so with one write a second, and no longer than that: %s', async (_, state, outcome) => {
    const key = state ? await table.issue(state) : aKey();

    expect(await writesOf(() => outcomes(1, key))).toBe(1);
    expect(await writesOf(async () => expect(await outcomes(1, key, NOW + LEASE_MS - 1)).toEqual([outcome]))).toBe(0);
    await table.issue(aKey({ recordId: key.recordId, tokens: key.tokens }));
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
    await Promise.all(Array.from({ length: 1_100 }, () => limiter.admit(parsed(generateToken()), NOW)));

    expect(await writesOf(() => outcomes(LEASE - 1, key, HURRIED))).toBe(0);
  });

  test('is not what the health check goes by: each makes its own call', async () => {
    expect(await writesOf(() => limiter.check())).toBe(1);
    expect(await writesOf(() => limiter.check())).toBe(1);
  });
});

test('The tokens of a key share its leases until each ends, to the millisecond', async () => {
  const key = await table.issue(busy);
  const old = await table.addToken(key, { until: HURRIED + 1 });
  await hurry(key);

  expect(await outcomes(1, key, HURRIED)).toEqual(['admitted']);
  expect(await writesOf(() => outcomes(2, key, HURRIED, old))).toBe(0);
  expect(await outcomes(1, key, HURRIED + 1, old)).toEqual(['denied']);
  expect(await writesOf(() => outcomes(LEASE - 3, key, HURRIED + 1))).toBe(0);
});

const wrongTokenFor = ({ recordId }: KeyRecord): Token => parsed(generateToken(recordId));

describe('A token that is wrong', () => {
  test('uses nothing of a lease, and gives nothing of it back', async () => {
    const key = await table.issue(busy);
    const token = wrongTokenFor(key);
    await hurry(key);
    await outcomes(1, key, HURRIED);
    const leased = { minuteUsed: COUNTED + LEASE, dayUsed: COUNTED + LEASE };

    expect(await outcomes(10, key, HURRIED, token)).not.toContain('admitted');
    expect(await outcomes(1, key, HURRIED + LEASE_MS, token)).toEqual(['denied']);
    expect(await table.read(key)).toMatchObject(leased);
    // Four of the lease are given back, and one is taken.
    expect(await outcomes(1, key, HURRIED + 25_000)).toEqual(['admitted']);
    expect(await table.read(key)).toMatchObject({ minuteUsed: COUNTED + 2, dayUsed: COUNTED + 2 });
  });

  test('counts nothing and suspends nothing where the key is used up', async () => {
    const key = await table.issue({ perMinute: 3, minuteUsed: 3, currentMinute: MINUTE });
    const token = wrongTokenFor(key);
    const before = await table.read(key);
    for (let second = 0; second < 5; second++) {
      expect(await outcomes(2, key, NOW + second * LEASE_MS, token)).toEqual(['denied', 'denied']);
    }

    expect(await table.read(key)).toEqual(before);
    expect(await outcomes(2, key, NOW + 5 * LEASE_MS)).toEqual(['minute', 'minute']);
  });

  test('is refused without a write until one second after a good one has read the item', async () => {
    const key = await table.issue();
    const token = wrongTokenFor(key);
    expect(await writesOf(() => outcomes(1, key))).toBeGreaterThan(0);
    const refusals = async () => {
      for (const later of [0, 500, LEASE_MS - 1])
        expect(await outcomes(1, key, NOW + later, token)).toEqual(['denied']);
    };

    expect(await writesOf(refusals)).toBe(0);
    const tokens = { [token.hash]: { until: NEVER, access: 'full', label: 'new', last: '0000', since: NOW } } as const;
    await table.issue({ ...(await table.read(key)), tokens });
    expect(await outcomes(1, key, NOW + LEASE_MS, token)).toEqual(['admitted']);
  });
});
