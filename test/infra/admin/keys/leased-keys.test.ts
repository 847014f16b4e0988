import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createKey, type NewKey } from '../../../../infra/admin/keys/create-key.ts';
import { moveKey } from '../../../../infra/admin/keys/move-key.ts';
import { findDoomedKey, revokeKey } from '../../../../infra/admin/keys/revoke-key.ts';
import { rotateKey } from '../../../../infra/admin/keys/rotate-key.ts';
import { resumeKey, suspendKey } from '../../../../infra/admin/keys/suspend-key.ts';
import type { Target } from '../../../../infra/admin/target.ts';
import { adminTarget, closeTarget } from '../../../support/admin-target.ts';
import { type Answer, ApiClient } from '../../../support/api-client.ts';
import { LocalHost } from '../../../support/local-host.ts';
import { roomyMinute } from '../../../support/roomy-minute.ts';

/** So much that execution environments hold leases of it. */
const LEASED = { perMinute: 60_000, perDay: 1_000_000 };
const HOUR_MS = 3_600_000;

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

// At the end of a minute leases end too.
beforeEach(() => roomyMinute(6));

const issued = (limits = LEASED): Promise<NewKey> =>
  createKey(target, { name: 'acme', plan: 'enterprise', limits, expiresAt: undefined });
const list = ({ key }: NewKey): Promise<Answer> => ApiClient.withKey(host.baseUrl, key).list();
const revoke = async (id: string) => revokeKey(target, await findDoomedKey(target, id));

/** Has an execution environment take a lease for much more than the next request. */
async function takeLease(key: NewKey): Promise<void> {
  for (let batch = 0; batch < 3; batch++) await Promise.all(Array.from({ length: 20 }, () => list(key)));
  expect((await list(key)).status).toBe(200);
}

describe('A leased key is what it was made from the very next request once that is done', () => {
  test.each<[string, (id: string) => Promise<unknown>, object]>([
    ['suspended', (id) => suspendKey(target, id, undefined), { status: 401 }],
    ['suspended for a while', (id) => suspendKey(target, id, HOUR_MS), { status: 429 }],
    ['rotated without a grace', (id) => rotateKey(target, id, 0), { status: 401 }],
    ['revoked', revoke, { status: 401 }],
    ['moved', (id) => moveKey(target, id, 'free', undefined), { status: 429, rateLimit: { limit: 60 } }],
  ])('%s', async (_, change, expected) => {
    const key = await issued();
    await takeLease(key);
    await change(key.id);

    expect(await list(key)).toMatchObject(expected);
  });

  test.each([
    ['a suspension', HOUR_MS],
    ['a suspension without end', undefined],
  ])('resumed after %s that it has met', async (_, forMs) => {
    const key = await issued();
    await takeLease(key);
    await suspendKey(target, key.id, forMs);
    expect((await list(key)).status).not.toBe(200);
    await resumeKey(target, key.id);

    expect((await list(key)).status).toBe(200);
  });

  test('revoked, after it was rotated to one that got leases only then', async () => {
    const old = await issued({ perMinute: 900, perDay: 100_000 });
    const key = await rotateKey(target, old.id, HOUR_MS);
    await moveKey(target, key.id, 'enterprise', LEASED);
    await takeLease(old);
    await revoke(old.id);

    expect((await list(old)).status).toBe(401);
    expect((await list(key)).status).toBe(200);
  });
});
