import { type AttributeValue, ConditionalCheckFailedException, ThrottlingException } from '@aws-sdk/client-dynamodb';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import {
  MAX_LABEL_BYTES,
  MAX_NAME_BYTES,
  MAX_TOKENS_WITH_GRACE,
  tokenEntry,
} from '../../../shared/key-registry/record-changes.ts';
import { withEnd } from '../../../infra/admin/keys/token-changes.ts';
import { type KeyRecord, UNTIL_RESUMED } from '../../../shared/keys/key-record.ts';
import { Limiter } from '../../../shared/keys/limiter.ts';
import { clientOver } from '../../model/virtual-table.ts';
import { describeOnEachEngine, testClient } from '../../support/engines.ts';
import { acceptForeignErrors } from '../../support/foreign-errors.ts';
import { MAX_PER_DAY, MAX_PER_MINUTE } from '../../../shared/keys/plans.ts';
import { generateToken } from '../../../shared/keys/token.ts';
import { aKey, KeysTable, outcomesOf, tokenOf } from '../../support/tables.ts';
import { recordCalls } from '../recorded-calls.ts';

acceptForeignErrors();

const NOW = Date.UTC(2025, 5, 15, 12, 34, 30);
const MINUTE = Math.floor(NOW / 60_000);
const YESTERDAY = MINUTE - 1_440;
const END_OF_MINUTE = Date.UTC(2025, 5, 15, 12, 35);
const END_OF_DAY = Date.UTC(2025, 5, 16);
const FIVE_MINUTES = 300_000;

describeOnEachEngine('the limiter', (newClient) => {
  let table: KeysTable;
  let client: DynamoDBDocumentClient;
  let limiter: Limiter;

  beforeAll(async () => {
    client = newClient();
    table = await KeysTable.create(testClient());
  });

  beforeEach(() => {
    limiter = new Limiter(client, table.name);
  });

  const outcomes = (count: number, key: KeyRecord, now = NOW) => outcomesOf(limiter, count, key, now);

  test.each<[string, (key: KeyRecord) => Partial<KeyRecord>]>([
    ['was revoked, even if it is enabled', () => ({ revoked: true })],
    ['was disabled', () => ({ enabled: false })],
    ['has expired', () => ({ expiresAtMs: NOW })],
    ['was suspended until it is resumed', () => ({ suspendedUntil: UNTIL_RESUMED })],
    ['has its token revoked', (key) => ({ tokens: withEnd(key.tokens, Object.keys(key.tokens), NOW) })],
    ['lacks the token', () => ({ tokens: {} })],
  ])('denies the next request of a key that %s, and writes nothing', async (_, change) => {
    const key = await table.issue({ currentMinute: MINUTE });
    expect(await outcomes(1, key)).toEqual(['admitted']);
    const changed = await table.issue({ ...(await table.read(key)), ...change(key) });

    expect(await outcomes(1, key)).toEqual(['denied']);
    expect(await table.read(key)).toEqual(changed);
  });

  test('admits the first request of a key, and counts it in minute and day', async () => {
    const key = await table.issue();
    const day = { dayRefused: 0, priorMinute: 0, priorUsed: 0, priorRefused: 0 };
    const counted = { ...key, ...day, currentMinute: MINUTE, minuteUsed: 1, dayUsed: 1 };

    expect(await limiter.admit(tokenOf(key), NOW)).toEqual({ kind: 'admitted', key: counted });
    expect(await table.read(key)).toEqual(counted);
  });

  // An item of up to 1,024 bytes costs one unit; 14 are left.
  test('counts a request of the longest record with one write unit and no read', async () => {
    const longest = longestKey();
    const key = await table.issue({ ...longest, name: `${longest.name}${'x'.repeat(14)}` });
    const recorded = testClient();
    const calls = recordCalls(recorded);
    expect(await new Limiter(recorded, table.name).admit(tokenOf(key), NOW)).toMatchObject({ kind: 'admitted' });

    const output = { ConsumedCapacity: { CapacityUnits: 1 } };
    expect(calls).toMatchObject([{ command: 'UpdateItemCommand', output }]);
  });

  test.each([
    ['minute', { perMinute: 3 }, END_OF_MINUTE],
    ['day', { perDay: 3 }, END_OF_DAY],
  ])('refuses a request over the limit of the %s until it ends, to the millisecond', async (reason, limits, end) => {
    const key = await table.issue(limits);
    await outcomes(3, key);

    expect(await outcomes(1, key)).toEqual([reason]);
    expect(await table.read(key)).toMatchObject({ minuteUsed: 3, dayUsed: 3 });
    expect(await outcomes(1, key, end - 1)).toEqual([reason]);
    expect(await outcomes(1, key, end)).toEqual(['admitted']);
  });

  test('refuses in a new minute of an exhausted day, and resets the refusals of the minute', async () => {
    const key = await table.issue({ perDay: 2 });
    expect(await outcomes(3, key)).toEqual(['admitted', 'admitted', 'day']);

    expect(await outcomes(1, key, END_OF_MINUTE)).toEqual(['day']);
    const counters = { currentMinute: MINUTE + 1, minuteUsed: 0, dayUsed: 2, minuteRefused: 1, dayRefused: 2 };
    expect(await table.read(key)).toMatchObject(counters);
  });

  test('keeps the usage of the day before when a day begins', async () => {
    const key = await table.issue({ currentMinute: MINUTE, dayRefused: 1 });
    expect(await outcomes(2, key)).toEqual(['admitted', 'admitted']);
    expect(await outcomes(1, key, END_OF_DAY + 86_400_000)).toEqual(['admitted']);
    expect(await table.read(key)).toMatchObject({ priorMinute: MINUTE, priorUsed: 2, priorRefused: 1, dayRefused: 0 });

    const older = await table.issue({ currentMinute: MINUTE - 1_440, dayUsed: 7 });
    expect(await outcomes(1, older)).toEqual(['admitted']);
    expect(await table.read(older)).toMatchObject({ priorMinute: MINUTE - 1_440, priorUsed: 7, priorRefused: 0 });
  });

  test.each<[string, Partial<KeyRecord>, number, number]>([
    ['a key that was never used', { perMinute: 20 }, 1, 20],
    ['a minute that is over', { perMinute: 20, currentMinute: MINUTE - 1, minuteUsed: 20, dayUsed: 200 }, 201, 220],
    ['a day that is over', { perMinute: 40, perDay: 25, currentMinute: YESTERDAY, dayUsed: 25 }, 1, 25],
  ])('admits exactly the remaining quota of 60 concurrent requests: %s', async (_, state, first, last) => {
    const key = await table.issue(state);
    const tokens = [tokenOf(key), await table.addToken(key, { label: 'reports' })];
    const limiters = Array.from({ length: 6 }, () => new Limiter(client, table.name));
    const all = Array.from({ length: 5 }, () =>
      tokens.flatMap((token) => limiters.map((each) => each.admit(token, NOW))),
    ).flat();
    const counted = (await Promise.all(all)).flatMap((verdict) =>
      verdict.kind === 'admitted' ? verdict.key.dayUsed : [],
    );

    expect(counted.toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: last - first + 1 }, (__, index) => first + index),
    );
  });

  test('makes four writes in a flood, counts every refusal, and suspends for five minutes at that of the limit', async () => {
    const key = await table.issue({ perMinute: 5, minuteUsed: 5, currentMinute: MINUTE });
    const recorded = testClient();
    const calls = recordCalls(recorded);
    const seen = await outcomesOf(new Limiter(recorded, table.name), 50, key, NOW);

    expect(seen).toEqual([
      ...Array.from({ length: 4 }, () => 'minute'),
      ...Array.from({ length: 46 }, () => 'suspended'),
    ]);
    // One that fails as there is no remaining quota, the first refusal, that which reaches the limit, the suspension.
    expect(calls).toHaveLength(4);
    expect(await table.read(key)).toMatchObject({ minuteUsed: 5, minuteRefused: 5 });
    expect(await outcomes(1, key, NOW + FIVE_MINUTES - 1)).toEqual(['suspended']);
    expect(await outcomes(1, key, NOW + FIVE_MINUTES)).toEqual(['admitted']);
  });
});

const slowKey = aKey({ currentMinute: MINUTE, minuteRefused: 60 });

/** What a call of a request may end with, from the item. */
type Ending = (Item: Record<string, AttributeValue>) => object;
const LOST: Ending = (Item) => new ConditionalCheckFailedException({ message: 'lost', $metadata: {}, Item });
const COUNTED: Ending = (Attributes) => ({ Attributes });
const BUSY: Ending = () => new ThrottlingException({ message: 'busy', $metadata: {} });
const GONE: Ending = () => Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });
const LATE: Ending = () => Object.assign(new Error('too late'), { name: 'TimeoutError' });

test.each([
  ['after one write that may have arrived', LATE, 'too late', 1],
  ['after two whose connection was gone', GONE, 'socket hang up', 2],
  ['after many that lose a race', LOST, 'No verdict', 16],
])('the limiter gives up %s', async (_, end, message, attempts) => {
  let calls = 0;
  const client = clientOver(() => Promise.reject(++calls && end(marshall(slowKey))));

  await expect(new Limiter(client, 'keys').admit(tokenOf(slowKey), NOW)).rejects.toThrow(message);
  expect(calls).toBe(attempts);
});

test.each([
  ['an admission that loses all races', {}, [LOST, LOST, LOST, LOST]],
  ['an admission that loses races, and is throttled then', {}, [LOST, LOST, BUSY, BUSY, BUSY]],
  ['one whose connection was gone, and that loses races then', {}, [GONE, LOST, BUSY, GONE, BUSY]],
  ['a refusal that is counted late, and would suspend the key', { minuteUsed: 60 }, [LOST, LOST, COUNTED, COUNTED]],
  ['a suspension that is throttled', { minuteUsed: 60 }, [LOST, COUNTED, BUSY, BUSY, BUSY]],
])('the limiter starts no write more than five seconds after the first: %s', async (_, state, script) => {
  let time = NOW;
  const clock = jest.spyOn(Date, 'now').mockImplementation(() => time);
  const Item = marshall({ ...slowKey, ...state });
  const begins: number[] = [];
  const slow = clientOver(async () => {
    begins.push(time - NOW);
    time += 2_450;
    const response = (script[begins.length - 1] ?? COUNTED)(Item);
    if (response instanceof Error) throw response;
    return { ...response };
  });
  await new Limiter(slow, 'keys').admit(tokenOf(slowKey), NOW).catch(() => undefined);
  clock.mockRestore();

  // The function has ten seconds, and no response takes longer than three.
  expect(begins).toEqual([0, 2_450, 4_900]);
});

/** A key whose record has all that it may have, while one of its tokens is being rotated. */
function longestKey(): Required<KeyRecord> {
  const { recordId } = aKey();
  const order = { label: 'ü'.repeat(MAX_LABEL_BYTES / 2), until: END_OF_DAY };
  const entries = Array.from({ length: MAX_TOKENS_WITH_GRACE }, (_, index) =>
    tokenEntry(generateToken(recordId), { ...order, pending: index === 0 }, NOW),
  );
  return {
    recordId,
    keyId: 'a1b2c3d4e5',
    name: 'ü'.repeat(MAX_NAME_BYTES / 2),
    plan: 'enterprise',
    perMinute: MAX_PER_MINUTE,
    perDay: MAX_PER_DAY,
    createdAt: NOW,
    changedAt: NOW,
    expiresAtMs: END_OF_DAY,
    tokens: Object.assign({}, ...entries),
    enabled: true,
    revoked: false,
    purgeAt: Math.floor(END_OF_DAY / 1_000),
    unappliedSince: NOW,
    interimUntil: NOW,
    revision: NOW,
    currentMinute: MINUTE,
    minuteUsed: 47_997,
    dayUsed: MAX_PER_DAY - 1,
    minuteRefused: 999_998,
    dayRefused: 999_999_998,
    priorMinute: MINUTE - 1_440,
    priorUsed: MAX_PER_DAY - 1,
    priorRefused: 999_999_998,
    suspendedUntil: NOW - 1,
    suspendedByAdmin: true,
  };
}
