import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createKey, type NewKey } from '../../infra/admin/keys/create-key.ts';
import type { Target } from '../../infra/admin/target.ts';
import { type Limits, plans } from '../../shared/keys/plans.ts';
import { AdminCommand, adminTarget, closeTarget, whilePausing } from '../support/admin-command.ts';
import { ApiClient } from '../support/api-client.ts';
import { HostClock } from '../support/host-clock.ts';
import { IssuedKey } from '../support/issue-key.ts';
import { LocalHost } from '../support/local-host.ts';
import { expectNoSecrets, KEY_PATTERN } from '../support/secrets.ts';

const HOUR_MS = 3_600_000;
/** So much that execution environments hold leases of it. */
const LEASED = { perMinute: 60_000, perDay: 1_000_000 };

let host: LocalHost;
let target: Target;
let admin: AdminCommand;
let clock: HostClock;

beforeAll(async () => {
  host = await LocalHost.start();
  target = await adminTarget(host);
  admin = new AdminCommand(host.origin);
  clock = new HostClock();
  // A command waits until no environment remembers the key as it was. Here it is the clock of the host that goes on.
  whilePausing((milliseconds) => clock.moveTo(clock.now + milliseconds));
});

afterAll(async () => {
  clock.release();
  closeTarget(target);
  await host.close();
});

beforeEach(() => clock.moveToFreshMinute());

const issued = (limits?: Limits): Promise<NewKey> =>
  createKey(target, { name: 'acme', plan: limits ? 'enterprise' : 'free', limits: limits ?? plans.free.limits });
const apiOf = ({ key }: { readonly key: string }): ApiClient => ApiClient.withKey(host.baseUrl, key);
const statusOf = async (key: { readonly key: string }): Promise<number> => (await apiOf(key).list()).status;

async function statuses(key: NewKey, count: number): Promise<number[]> {
  const found: number[] = [];
  for (let request = 0; request < count; request++) found.push(await statusOf(key));
  return found;
}

/** Has an execution environment hold a lease: requests of the key that it has counted and not admitted yet. */
async function lease(key: NewKey): Promise<void> {
  const issuedKey = new IssuedKey(host, key.key);
  await statuses(key, 10);
  // What other environments have counted meanwhile, so that the key's traffic is more than can be written.
  const elsewhere = 500;
  const { minuteUsed, dayUsed } = await issuedKey.read();
  await issuedKey.change({ minuteUsed: minuteUsed + elsewhere, dayUsed: dayUsed + elsewhere });
  clock.moveTo(clock.now + 100);
  await statuses(key, 2);
  expect((await issuedKey.read()).dayUsed).toBeGreaterThan(elsewhere + 12);
}

describe('keys move', () => {
  test('gives the new limits at once and keeps the counters', async () => {
    const key = await issued();
    await statuses(key, 3);

    expect(await admin.json('keys', 'move', key.id, '--plan', 'pro')).toMatchObject({
      id: key.id,
      plan: 'pro',
      perMinute: 300,
      perDay: 10_000,
      state: 'active',
      usedToday: 3,
    });
    expect(await apiOf(key).list()).toMatchObject({ status: 200, rateLimit: { limit: 300, remaining: 296 } });
  });

  test('lets a key go on that has suspended itself, and says so', async () => {
    const key = await issued({ perMinute: 2, perDay: 100 });
    await statuses(key, 4);
    expect(await apiOf(key).list()).toMatchObject({ error: { code: 'API_KEY_SUSPENDED' } });

    expect(await admin.json('keys', 'move', key.id, '--plan', 'free')).toMatchObject({
      plan: 'free',
      state: 'active',
      suspendedUntil: null,
    });
    expect(await apiOf(key).list()).toMatchObject({ status: 200, rateLimit: { limit: 60, remaining: 57 } });
  });
});

describe('keys rotate', () => {
  test('makes a key that counts with the old one, which works until the grace ends', async () => {
    const old = await issued();
    await statuses(old, 2);
    const key = await admin.newKey('rotate', old.id);
    const graceEnd = Date.parse(String(key['graceEnds']));

    expect(key).toMatchObject({ name: 'acme', plan: 'free', replaces: old.id, expires: null });
    expect(key.key).not.toBe(old.key);
    expect(graceEnd - clock.now).toBe(24 * HOUR_MS);
    expect((await apiOf(key).list()).rateLimit).toMatchObject({ limit: 60, remaining: 57 });
    expect((await apiOf(old).list()).rateLimit).toMatchObject({ limit: 60, remaining: 56 });
    expect(await admin.json('keys', 'show', old.id)).toMatchObject({ state: 'rotated', usedToday: 0 });
    expect(await admin.json('keys', 'show', key.id)).toMatchObject({ state: 'active', usedToday: 4 });

    clock.moveTo(graceEnd - 1);
    expect([await statusOf(old), await statusOf(key)]).toEqual([200, 200]);
    clock.moveTo(graceEnd);
    expect([await statusOf(old), await statusOf(key)]).toEqual([401, 200]);
  });

  test('takes the grace that it is told, says until when, and goes on from key to key only forwards', async () => {
    const old = await issued();
    const text = await admin.output('keys', 'rotate', old.id, '--grace', '7d');
    const day = new Date(Date.now() + 168 * HOUR_MS).toISOString().slice(0, 10);
    const [key = ''] = text.match(KEY_PATTERN) ?? [];

    expect(text).toContain(`The old key ${old.id} works until ${day} `);
    expect([await statusOf(old), await statusOf({ key })]).toEqual([200, 200]);
    expect(await admin.failure('keys', 'rotate', old.id)).toMatch(/was rotated to \w+ already\. Rotate that one\.$/);
    expect(await admin.failure('keys', 'move', old.id, '--plan', 'pro')).toContain('Move the key that replaced it');
    expect(await admin.failure('keys', 'suspend', old.id, '--for', '1h')).toContain('Suspend the key that replaced it');
    expect(await admin.failure('keys', 'rotate', old.id, '--grace', 'soon')).toContain('such as 30m, 24h or 7d');
  });
});

describe('keys suspend, keys resume', () => {
  test('for a while: 429 until then, or until it is resumed', async () => {
    const key = await issued();
    await admin.output('keys', 'suspend', key.id, '--for', '1h');
    const { status, error, headers } = await apiOf(key).list();

    expect({ status, error }).toMatchObject({ status: 429, error: { code: 'API_KEY_SUSPENDED' } });
    expect(headers.get('Retry-After')).toBe('3599');
    expect(await admin.json('keys', 'show', key.id)).toMatchObject({
      state: 'suspended',
      suspendedUntil: expect.any(String),
    });
    expect(await admin.json('keys', 'resume', key.id)).toMatchObject({ state: 'active', suspendedUntil: null });
    expect(await statusOf(key)).toBe(200);
  });

  test('until it is resumed: 401, in API Gateway too', async () => {
    const key = await issued();
    expect(await admin.output('keys', 'suspend', key.id)).toBe(
      `acme is suspended until it is resumed. To end that: npm run admin -- keys resume ${key.id}\n`,
    );
    expect(await statusOf(key)).toBe(401);
    expect(host.host.records.apiKey(key.id)).toMatchObject({ enabled: false });
    expect(await admin.failure('keys', 'rotate', key.id)).toContain('is suspended. Resume it first.');

    expect(await admin.output('keys', 'resume', key.id)).toBe('acme is active.\n');
    expect(await statusOf(key)).toBe(200);
    expect(await admin.output('keys', 'resume', key.id)).toBe('acme is not suspended: it is active.\n');
  });
});

describe('keys revoke', () => {
  test('asks first, so that a script must say --yes', async () => {
    const key = await issued();

    expect(await admin.failure('keys', 'revoke', key.id)).toBe(
      `Revoking acme (${key.id}) cannot be undone. Say --yes to go on without being asked.`,
    );
    expect(await statusOf(key)).toBe(200);
  });

  test('refuses a key from the very next request, and nothing of it is left', async () => {
    const key = await issued();
    await statuses(key, 2);

    expect(await admin.output('keys', 'revoke', key.id, '--yes')).toBe(`acme (${key.id}) is revoked.\n`);
    expect(await statusOf(key)).toBe(401);
    expect(await admin.failure('keys', 'show', key.id)).toContain(`There is no key ${key.id}`);
    expect(JSON.stringify(await admin.json('keys', 'list'))).not.toContain(key.id);
    expect(await admin.output('keys', 'revoke', key.id, '--yes')).toBe(`acme (${key.id}) is revoked already.\n`);
  });

  test('ends the keys with it that were rotated to it', async () => {
    const old = await issued();
    const key = await admin.newKey('rotate', old.id);

    expect(await admin.json('keys', 'revoke', key.id, '--yes')).toEqual({
      id: key.id,
      name: 'acme',
      plan: 'free',
      state: 'revoked',
      also: [old.id],
    });
    expect([await statusOf(old), await statusOf(key)]).toEqual([401, 401]);
    expect(host.host.records.apiKeys.map(({ id }) => id)).not.toContain(old.id);
  });
});

test.each([
  [401, ['suspend'], []],
  [429, ['suspend'], ['--for', '1h']],
  [401, ['rotate'], ['--grace', '0s']],
  [401, ['revoke'], ['--yes']],
])(
  '%i for the next request of a key that is leased, once keys %s %s has returned',
  async (status, command, options) => {
    const key = await issued(LEASED);
    await lease(key);
    await admin.output('keys', ...command, key.id, ...options);

    expect(await statusOf(key)).toBe(status);
  },
);

test('No key, nor what is stored in place of it, is in what other commands print', () => {
  const keys = [...(admin.newKeys.match(KEY_PATTERN) ?? []), ...Object.values(host.host.keys)];

  expect(keys.length).toBeGreaterThan(5);
  expectNoSecrets(admin.transcript, keys);
});
