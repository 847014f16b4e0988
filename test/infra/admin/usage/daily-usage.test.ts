import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { createKey, type NewKey } from '../../../../infra/admin/keys/create-key.ts';
import { moveKey } from '../../../../infra/admin/keys/move-key.ts';
import { rotateKey } from '../../../../infra/admin/keys/rotate-key.ts';
import type { Target } from '../../../../infra/admin/target.ts';
import { dailyUsage } from '../../../../infra/admin/usage/daily-usage.ts';
import { adminTarget, closeTarget } from '../../../support/admin-target.ts';
import { ApiClient } from '../../../support/api-client.ts';
import { HostClock } from '../../../support/host-clock.ts';
import { LocalHost } from '../../../support/local-host.ts';

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
