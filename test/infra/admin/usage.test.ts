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
    expect(await topUsage(target, 1)).toEqual([
      {
        id: 'over',
        name: 'acme',
        plan: 'free',
        usedThisMinute: 150,
        perMinute: 100,
        usedToday: 150,
        perDay: 1_000,
        used: 1.5,
      },
    ]);
  });

  test('leaves out keys that were not used today', async () => {
    await put('yesterday', { currentMinute: minuteOf(clock.now) - 1_440, minuteUsed: 99, dayUsed: 999 });
    await put('earlier today', { currentMinute: minuteOf(clock.now) - 60, minuteUsed: 99, dayUsed: 100 });

    expect(await topUsage(target, 10)).toMatchObject([{ id: 'earlier today', usedThisMinute: 0, used: 0.1 }]);
  });

  test.each([
    ['during the grace', 1, true],
    ['after it', -1, true],
    ['suspended', 1, false],
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
    await request(key, 2);
    nextDay();
    nextDay();
    await request(key, 1);

    const dates = [4, 3, 2, 1, 0].map((ago) => new Date(clock.now - ago * DAY_MS).toISOString().slice(0, 10));
    expect(await dailyUsage(target, key.id, 5)).toEqual({
      id: key.id,
      name: 'acme',
      plan: 'free',
      perDay: 1_000,
      days: [0, 3, 2, 0, 1].map((requests, index) => ({ date: dates[index], requests })),
    });
    expect(await requestsOf(key.id, 1)).toEqual([1]);
    expect(await requestsOf(key.id, 90)).toHaveLength(90);
  });

  test('a key that has not been used has no requests', async () => {
    expect(await requestsOf((await issued()).id, 2)).toEqual([0, 0]);
  });

  test('sums a key with those that were rotated to it', async () => {
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
    await request(third, 4);

    expect(await requestsOf(third.id, 4)).toEqual([0, 3, 3, 5]);
  });

  test('of today counts every request, of a key that was just made too', async () => {
    const key = await createKey(target, { name: 'acme', plan: 'free', limits: undefined, expiresAt: undefined });
    await request(key, 2);

    expect(await requestsOf(key.id, 1)).toEqual([2]);
  });

  test('a key that was moved keeps its requests of today', async () => {
    const key = await issued();
    await request(key, 3);
    await moveKey(target, key.id, 'pro', undefined);
    await request(key, 2);

    expect(await requestsOf(key.id, 2)).toEqual([0, 5]);
  });

  test('an unknown id is told as such', async () => {
    await expect(dailyUsage(target, 'nobody', 3)).rejects.toThrow('There is no key nobody.');
  });
});

describe('the chart', () => {
  describe('bar', () => {
    test.each([
      ['nothing', 0, ''],
      ['anything at all', 1e-9, '▏'],
      ['one eighth of a character', 1 / 320, '▏'],
      ['seven eighths', 7 / 320, '▉'],
      ['one character', 8 / 320, '█'],
      ['one and a half', 12 / 320, '█▌'],
      ['half of the quota', 0.5, '█'.repeat(20)],
      ['all of it', 1, '█'.repeat(40)],
      ['more than that, after a move to a smaller plan', 3, '█'.repeat(40)],
    ])('of %s', (_, share, text) => {
      expect(bar(share)).toBe(text);
    });
  });

  test.each([
    [0, 'green'],
    [0.699, 'green'],
    [0.7, 'yellow'],
    [0.899, 'yellow'],
    [0.9, 'red'],
    [2, 'red'],
  ] as const)('the colour of %d is %s', (share, name) => {
    expect(colour(share)).toBe(name);
  });

  test('the chart has a line for each day, with all columns below each other', () => {
    const days = [
      { date: '2026-11-19', requests: 0 },
      { date: '2026-11-20', requests: 25 },
      { date: '2026-11-21', requests: 1_500 },
    ];
    const chart = usageChart({ id: 'a', name: 'acme', plan: 'free', perDay: 1_000, days });

    expect(stripVTControlCharacters(chart).split('\n')).toEqual([
      'acme, free: requests a day, of 1,000',
      '',
      `2026-11-19  ${' '.repeat(40)}     0    0.0 %`,
      `2026-11-20  █${' '.repeat(39)}    25    2.5 %`,
      `2026-11-21  ${'█'.repeat(40)} 1,500  150.0 %`,
    ]);
  });
});
