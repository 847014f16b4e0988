import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { Target } from '../../../../infra/admin/target.ts';
import { topUsage } from '../../../../infra/admin/usage/top-usage.ts';
import type { KeyRecord } from '../../../../shared/keys/key-record.ts';
import { minuteOf } from '../../../../shared/keys/window.ts';
import { adminTarget, closeTarget } from '../../../support/admin-target.ts';
import { HostClock } from '../../../support/host-clock.ts';
import { aKey } from '../../../support/key-records.ts';
import { LocalHost } from '../../../support/local-host.ts';

let host: LocalHost;
let target: Target;
let clock: HostClock;
let keys: KeyRecord[];

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
  keys = [];
});

afterEach(async () => {
  clock.release();
  for (const { keyHash } of keys) {
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
