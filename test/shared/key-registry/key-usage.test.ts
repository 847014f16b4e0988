import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { beforeEach, expect, test } from '@jest/globals';
import { KeyUsage } from '../../../shared/key-registry/key-usage.ts';
import { minuteOf } from '../../../shared/keys/verdict.ts';
import { describeOnEachEngine, recordCalls, testClient } from '../../support/engines.ts';
import { aKey, createUsageTable } from '../../support/tables.ts';

const minute = (text: string) => minuteOf(Date.parse(text));

describeOnEachEngine('the usage table', () => {
  let client: DynamoDBDocumentClient;
  let usage: KeyUsage;

  beforeEach(async () => {
    client = testClient();
    usage = new KeyUsage(client, await createUsageTable(client));
  });

  const used = { currentMinute: minute('2026-11-21T23:59:00Z'), dayUsed: 5, dayRefused: 2 };
  const saturday = { day: '2026-11-21', used: 5, refused: 2 };
  const FIVE_PAST = Date.parse('2026-11-22T00:05:00Z');

  test('stores the day of each key, and their total, five minutes after its end', async () => {
    const prior = { priorMinute: used.currentMinute, priorUsed: 7, priorRefused: 0 };
    const keys = [
      { ...aKey(used), recordId: 'a' },
      { ...aKey({ currentMinute: minute('2026-11-22T00:01Z'), dayUsed: 1, ...prior }), recordId: 'b' },
    ];
    await usage.store(keys, FIVE_PAST - 1);
    expect(await usage.of('a', '')).toEqual([]);

    await usage.store(keys, FIVE_PAST);
    expect(await usage.of('a', '')).toEqual([saturday]);
    expect(await usage.of('b', '')).toEqual([{ ...saturday, used: 7, refused: 0 }]);
    expect((await usage.of(undefined, '2026-11-21')).at(-1)).toEqual({ ...saturday, used: 12, refused: 2 });
    expect(await usage.of('a', '2026-11-22')).toEqual([]);
  });

  test('is written once a day', async () => {
    const calls = recordCalls(client);
    for (let sync = 0; sync < 3; sync++) await usage.store([aKey(used)], FIVE_PAST);

    const commands = calls.map(({ command }) => command);
    expect(commands.filter((command) => command === 'QueryCommand')).toHaveLength(3);
    expect(commands.filter((command) => command === 'UpdateItemCommand')).toHaveLength(2);
  });

  test('stores both days of a record after failed syncs, and keeps the larger figure', async () => {
    const days = {
      currentMinute: minute('2026-11-21T12:00Z'),
      dayUsed: 9,
      priorMinute: minute('2026-11-18T12:00Z'),
      priorUsed: 4,
    };
    await usage.put('a', { ...saturday, used: 10 });
    await usage.store([{ ...aKey(days), recordId: 'a' }], FIVE_PAST);

    expect(await usage.of('a', '')).toEqual([
      { day: '2026-11-18', used: 4, refused: 0 },
      { ...saturday, used: 10 },
    ]);
  });
});

test('a day is kept for 400 days', () => {
  expect(KeyUsage.itemOf('a', { day: '2026-11-21', used: 1, refused: 0 }).ttl).toBe(Date.parse('2027-12-26') / 1_000);
});
