import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createKey } from '../../../../infra/admin/keys/create-key.ts';
import { findDoomedKey, revokeKey } from '../../../../infra/admin/keys/revoke-key.ts';
import type { Target } from '../../../../infra/admin/target.ts';
import { syncKeys } from '../../../../shared/key-registry/sync-keys.ts';
import { hashApiKey } from '../../../../shared/keys/api-key.ts';
import { adminTarget, closeTarget, cutNetwork, NETWORK_CUT } from '../../../support/admin-target.ts';
import { LocalHost } from '../../../support/local-host.ts';

const LEASED = { perMinute: 60_000, perDay: 1_000_000 };

let host: LocalHost;
let target: Target;

beforeAll(async () => {
  host = await LocalHost.start();
  target = await adminTarget(host);
});

afterAll(async () => {
  closeTarget(target);
  await host.close();
});

const sync = () => syncKeys(target.gateway, target.keyTable, target.apiStage);
const create = () => createKey(target, { name: 'acme', plan: 'enterprise', limits: LEASED, expiresAt: undefined });
const isEnabled = async (key: string) => (await target.keyTable.get(hashApiKey(key)))?.enabled;

test('a sync does not let a key in again whose leases are still to end', async () => {
  const { id, key } = await create();
  const revoked = findDoomedKey(target, id).then((doomed) => revokeKey(target, doomed));
  while (await isEnabled(key)) await sleep(10);
  await sleep(300);
  await sync();

  expect(await isEnabled(key)).toBe(false);
  await revoked;
  expect(await isEnabled(key)).not.toBe(true);
});

test('neither does one after a revocation that was cut off', async () => {
  const { id, key } = await create();
  const cut = await adminTarget(host);
  const doomed = await findDoomedKey(cut, id);
  // Its calls: disable in the table (read, write), in API Gateway, in the table again (read, write), delete.
  cutNetwork(cut, 6, 'before');
  await expect(revokeKey(cut, doomed)).rejects.toThrow(NETWORK_CUT);
  closeTarget(cut);

  expect(await sync()).toMatchObject({ changed: [] });
  expect(await isEnabled(key)).toBe(false);
});
