import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { beforeAll, beforeEach, expect, test } from '@jest/globals';
import {
  MAX_LABEL_BYTES,
  MAX_NAME_BYTES,
  MAX_TOKENS_WITH_GRACE,
  tokenEntry,
} from '../../../shared/key-registry/record-changes.ts';
import { withEnd } from '../../../infra/admin/keys/tokens.ts';
import { type KeyRecord, UNTIL_RESUMED } from '../../../shared/keys/key-record.ts';
import { Limiter } from '../../../shared/keys/limiter.ts';
import { describeOnEachEngine, recordCalls, testClient } from '../../support/engines.ts';
import { MAX_PER_DAY, MAX_PER_MINUTE } from '../../../shared/keys/plans.ts';
import { generateToken } from '../../../shared/keys/token.ts';
import { aKey, KeysTable, outcomesOf, tokenOf } from '../../support/tables.ts';

const NOW = Date.UTC(2025, 5, 15, 12, 34, 30);
const MINUTE = Math.floor(NOW / 60_000);
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
