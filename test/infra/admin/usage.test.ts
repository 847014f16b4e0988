import { stripVTControlCharacters } from 'node:util';
import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { bar, colour, usageChart } from '../../../infra/admin/commands/usage-command.ts';
import { createKey, type NewKey } from '../../../infra/admin/keys/create-key.ts';
import { moveKey } from '../../../infra/admin/keys/move-key.ts';
import { rotateKey } from '../../../infra/admin/keys/rotate-key.ts';
import type { Target } from '../../../infra/admin/target.ts';
import { dailyUsage, topUsage } from '../../../infra/admin/usage.ts';
import type { KeyRecord } from '../../../shared/keys/key-record.ts';
import { minuteOf } from '../../../shared/keys/window.ts';
import { adminTarget, closeTarget } from '../../support/admin-command.ts';
import { ApiClient } from '../../support/api-client.ts';
import { HostClock } from '../../support/host-clock.ts';
import { aKey } from '../../support/tables.ts';
import { LocalHost } from '../../support/local-host.ts';

const DAY_MS = 86_400_000;

let host: LocalHost;
let target: Target;
let clock: HostClock;

beforeAll(async () => {
  host = await LocalHost.start();
  target = await adminTarget(host);
});

afterAll(async () => {
  closeTarget(target);
  await host.close();
});

beforeEach(() => {
  clock = new HostClock();
});

afterEach(() => clock.release());

const keys: KeyRecord[] = [];

afterEach(async () => {
  for (const { keyHash } of keys.splice(0)) {
    await host.documents.send(new DeleteCommand({ TableName: host.keysTable, Key: { keyHash } }));
  }
});

async function put(keyId: string, differences: Partial<KeyRecord>): Promise<KeyRecord> {
  const key = aKey({ keyId, perMinute: 100, perDay: 1_000, currentMinute: minuteOf(clock.now), ...differences });
  keys.push(key);
  await target.keyTable.add(key);
  return key;
}

const idsOf = async (count: number) => (await topUsage(target, count)).map(({ id }) => id);

async function issued(): Promise<NewKey> {
  const key = await createKey(target, { name: 'acme', plan: 'free', limits: undefined, expiresAt: undefined });
  // Until API Gateway knows the key everywhere, its requests are metered elsewhere.
  clock.moveToFreshMinute();
  return key;
}

async function request({ key }: { readonly key: string }, count: number): Promise<void> {
  for (let sent = 0; sent < count; sent++) {
    expect(await ApiClient.withKey(host.baseUrl, key).list()).toMatchObject({ status: 200 });
  }
}

const nextDay = (): void => clock.moveTo(clock.now + DAY_MS);
const requestsOf = async (id: string, days: number) =>
  (await dailyUsage(target, id, days)).days.map(({ requests }) => requests);

describe('the keys that are closest to their limits', () => {
  test('lists the keys that are closest to a limit of theirs, the closest first', async () => {
    await put('minute', { minuteUsed: 50, dayUsed: 50 });
    await put('day', { minuteUsed: 1, dayUsed: 800 });
    await put('little', { minuteUsed: 1, dayUsed: 1 });
    await put('over', { minuteUsed: 150, dayUsed: 150 });

    expect(await idsOf(10)).toEqual(['over', 'day', 'minute', 'little']);
    expect(await idsOf(2)).toEqual(['over', 'day']);
    expect(await topUsage(target, 1)).toMatchObject([{ id: 'over', plan: 'free', usedThisMinute: 150, used: 1.5 }]);
  });

  test('leaves out keys that were not used today', async () => {
    await put('yesterday', { currentMinute: minuteOf(clock.now) - 1_440, minuteUsed: 99, dayUsed: 999 });
    await put('earlier today', { currentMinute: minuteOf(clock.now) - 60, minuteUsed: 99, dayUsed: 100 });

    expect(await topUsage(target, 10)).toMatchObject([{ id: 'earlier today', usedThisMinute: 0, used: 0.1 }]);
  });

  test.each([
    ['during the grace', 1, true],
    ['after it', -1, true],
  ])('lists a rotated key with the one that replaced it only: %s', async (_, grace, enabled) => {
    const used = { minuteUsed: 60, dayUsed: 60 };
    const { keyHash } = await put('new', used);
    await put('old', { ...used, enabled, replacedBy: keyHash, expiresAt: clock.now + grace });

    expect(await idsOf(10)).toEqual(['new']);
  });
});

describe('the requests of a key by day', () => {
  test('tells of each UTC day, today last: what was metered, and of today what was counted', async () => {
    const key = await issued();
    await request(key, 3);
    nextDay();
    nextDay();
    await request(key, 1);

    const dates = [3, 2, 1, 0].map((ago) => new Date(clock.now - ago * DAY_MS).toISOString().slice(0, 10));
    expect(await dailyUsage(target, key.id, 4)).toEqual({
      id: key.id,
      name: 'acme',
      plan: 'free',
      perDay: 1_000,
      days: [0, 3, 0, 1].map((requests, index) => ({ date: dates[index], requests })),
    });
    expect(await requestsOf(key.id, 1)).toEqual([1]);
    expect(await requestsOf(key.id, 90)).toHaveLength(90);
  });

  test('sums a key with those that were rotated to it, and keeps what it used before a move', async () => {
    const first = await issued();
    await request(first, 3);
    nextDay();
    const second = await rotateKey(target, first.id, 3 * DAY_MS);
    clock.moveToFreshMinute();
    await request(first, 1);
    await request(second, 2);
    nextDay();
    const third = await rotateKey(target, second.id, 3 * DAY_MS);
    clock.moveToFreshMinute();
    await request(second, 1);
    await request(third, 2);
    await moveKey(target, third.id, 'pro', undefined);
    await request(third, 2);

    expect(await requestsOf(third.id, 4)).toEqual([0, 3, 3, 5]);
  });
});

test.each([
  ['anything at all', 1e-9, '▏', 'green'],
  ['one and a half', 12 / 320, '█▌', 'green'],
  ['the first yellow', 0.7, '█'.repeat(28), 'yellow'],
  ['the first red', 0.9, '█'.repeat(36), 'red'],
  ['more than all of it, after a move to a smaller plan', 3, '█'.repeat(40), 'red'],
] as const)('The bar of %s', (_, share, text, name) => {
  expect(bar(share)).toBe(text);
  expect(colour(share)).toBe(name);
});

test('The chart has a line for each day, with all columns below each other', () => {
  const days = [
    { date: '2026-11-20', requests: 0 },
    { date: '2026-11-21', requests: 1_500 },
  ];
  const chart = usageChart({ id: 'a', name: 'acme', plan: 'free', perDay: 1_000, days });

  expect(stripVTControlCharacters(chart).split('\n')).toEqual([
    'acme, free: requests a day, of 1,000',
    '',
    `2026-11-20  ${' '.repeat(40)}     0    0.0 %`,
    `2026-11-21  ${'█'.repeat(40)} 1,500  150.0 %`,
  ]);
});

test('days in a row without requests are one line; today has its own', () => {
  const days = [0, 0, 0, 5, 0, 0].map((requests, at) => ({ date: `2026-11-1${at}`, requests }));
  const chart = usageChart({ id: 'a', name: 'acme', plan: 'free', perDay: 1_000, days });

  const dates = stripVTControlCharacters(chart).split('\n').slice(2);
  expect(dates.map((line) => line.split(/ {2,}/)[0])).toEqual([
    '2026-11-10 to 2026-11-12: none',
    '2026-11-13',
    '2026-11-14',
    '2026-11-15',
  ]);
});
