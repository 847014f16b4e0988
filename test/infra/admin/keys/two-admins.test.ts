import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { createKey } from '../../../../infra/admin/keys/create-key.ts';
import { moveKey } from '../../../../infra/admin/keys/move-key.ts';
import { rotateKey } from '../../../../infra/admin/keys/rotate-key.ts';
import type { Target } from '../../../../infra/admin/target.ts';
import { syncKeys } from '../../../../shared/key-registry/sync-keys.ts';
import { adminTarget, closeTarget } from '../../../support/admin-target.ts';
import { ApiClient } from '../../../support/api-client.ts';
import { LocalHost } from '../../../support/local-host.ts';

const DAY_MS = 86_400_000;

let host: LocalHost;
const targets: Target[] = [];

beforeAll(async () => {
  host = await LocalHost.start();
});

afterEach(() => {
  for (const target of targets.splice(0)) closeTarget(target);
});

afterAll(() => host.close());

async function newTarget(): Promise<Target> {
  const target = await adminTarget(host);
  targets.push(target);
  return target;
}

const statusWith = async (key: string): Promise<number> => (await ApiClient.withKey(host.baseUrl, key).list()).status;

async function sync(): Promise<void> {
  const { gateway, keyTable, apiStage } = await newTarget();
  await syncKeys(gateway, keyTable, apiStage);
}

async function freeKey() {
  return createKey(await newTarget(), { name: 'shared', plan: 'free', limits: undefined, expiresAt: undefined });
}

test.each([
  ['free', undefined],
  ['enterprise', { perMinute: 900, perDay: 9_000 }],
] as const)('Keys of one name that are created at the same time all work: %s', async (plan, limits) => {
  const orders = Array.from({ length: 5 }, async () =>
    createKey(await newTarget(), { name: 'ci', plan, limits, expiresAt: undefined }),
  );
  const keys = await Promise.all(orders);
  await sync();

  expect(await Promise.all(keys.map(({ key }) => statusWith(key)))).toEqual([200, 200, 200, 200, 200]);
});

test('A key that is moved while syncs run stays open, on its new plan', async () => {
  const { id, key } = await freeKey();
  const moves = async (): Promise<void> => {
    for (const plan of ['pro', 'business', 'free', 'pro'] as const)
      await moveKey(await newTarget(), id, plan, undefined);
  };
  const syncs = async (): Promise<void> => {
    for (let times = 0; times < 20; times++) await sync();
  };
  await Promise.all([moves(), syncs()]);
  await sync();

  const { status, rateLimit } = await ApiClient.withKey(host.baseUrl, key).list();
  expect({ status, limit: rateLimit.limit }).toEqual({ status: 200, limit: 300 });
});

test('Of rotations of one key at the same time each works or fails, and all its keys count as one', async () => {
  const { id, key } = await freeKey();
  const outcomes = await Promise.allSettled(
    Array.from({ length: 3 }, async () => rotateKey(await newTarget(), id, DAY_MS)),
  );
  const rotated = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value.key] : []));
  await sync();

  expect(rotated).toHaveLength(1);
  const first = await ApiClient.withKey(host.baseUrl, key).list();
  const second = await ApiClient.withKey(host.baseUrl, rotated[0] ?? '').list();
  expect([first.status, second.status]).toEqual([200, 200]);
  expect(second.rateLimit.remaining).toBe(first.rateLimit.remaining - 1);
});
