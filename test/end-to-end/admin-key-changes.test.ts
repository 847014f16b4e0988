import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createKey } from '../../infra/admin/keys/create-key.ts';
import type { NewToken } from '../../infra/admin/keys/new-token.ts';
import type { Target } from '../../infra/admin/target.ts';
import { type Limits, plans } from '../../shared/keys/plans.ts';
import { AdminCommand, adminTarget, closeTarget, run, whilePausing } from '../support/admin-command.ts';
import { ApiClient } from '../support/api-client.ts';
import { HostClock } from '../support/host-clock.ts';
import { LocalHost } from '../support/local-host.ts';
import { expectNoSecrets, KEY_PATTERN } from '../support/secrets.ts';
import { nameOf } from '../support/tables.ts';

const HOUR_MS = 3_600_000;
const FIND = `"${process.execPath}" infra/admin/main.ts keys find`;

const findInput = (input: string) =>
  run('sh', ['-c', `printf %s "$TOKEN" | ${FIND} --url ${host.origin}`], { TOKEN: input });

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

const issued = (limits?: Limits): Promise<NewToken> =>
  createKey(target, { name: 'acme', plan: limits ? 'enterprise' : 'free', limits: limits ?? plans.free.limits });
const apiOf = ({ key }: { readonly key: string }): ApiClient => ApiClient.withKey(host.baseUrl, key);
const statusOf = async (key: { readonly key: string }): Promise<number> => (await apiOf(key).list()).status;

async function statuses(key: NewToken, count: number): Promise<number[]> {
  const found: number[] = [];
  for (let request = 0; request < count; request++) found.push(await statusOf(key));
  return found;
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
});

describe('keys rotate', () => {
  test('makes a token that counts with the old one, which works until the grace ends; the key goes on as it is', async () => {
    const old = await issued();
    await old.confirmShown();
    const rotated = await admin.newKey('rotate', old.id);
    const graceEnd = Date.parse(String(rotated['graceEnds']));

    expect(rotated).toMatchObject({ id: old.id, name: 'acme', plan: 'free', label: 'main', access: 'full' });
    expect(graceEnd - clock.now).toBe(24 * HOUR_MS);
    expect((await apiOf(rotated).list()).rateLimit).toMatchObject({ limit: 60, remaining: 59 });
    expect((await apiOf(old).list()).rateLimit).toMatchObject({ limit: 60, remaining: 58 });

    clock.moveTo(graceEnd - 1);
    expect([await statusOf(old), await statusOf(rotated)]).toEqual([200, 200]);
    clock.moveTo(graceEnd);
    expect([await statusOf(old), await statusOf(rotated)]).toEqual([401, 200]);
  });

  test('is refused within the grace, but with no grace, which ends it', async () => {
    const old = await issued();
    await old.confirmShown();
    const text = await admin.output('keys', 'rotate', old.id, '--grace', '7d');
    const day = new Date(clock.now + 168 * HOUR_MS).toISOString().slice(0, 10);
    const [key = ''] = text.match(KEY_PATTERN) ?? [];

    expect(text).toContain(`The old token ${nameOf(old)} works until ${day} `);
    expect(await admin.failure('keys', 'rotate', old.id)).toContain(
      `The token main of the key ${old.id} was rotated already, and the old one, ${nameOf(old)}, works until ${day} `,
    );
    const atOnce = await admin.newKey('rotate', old.id, '--grace', '0s');
    expect(atOnce['replaces']).toEqual([nameOf(old), nameOf({ key, label: 'main' })]);
    expect([await statusOf(old), await statusOf({ key }), await statusOf(atOnce)]).toEqual([401, 401, 200]);
  });
});

describe('keys add, keys end, keys find', () => {
  test('a key has several tokens under one limit, one of them read-only; each is ended by its name, once that is confirmed', async () => {
    const main = await issued();
    await main.confirmShown();
    const added = await admin.output('keys', 'add', main.id, '--label', 'reports', '--read-only', '--expires', '2d');
    const [key = ''] = added.match(KEY_PATTERN) ?? [];
    expect(added).toMatch(/^ {4}Label {4}reports\n {4}It reads only\.$/m);

    expect((await apiOf(main).list()).rateLimit.remaining).toBe(59);
    expect((await apiOf({ key }).list()).rateLimit.remaining).toBe(58);
    expect(await apiOf({ key }).setQuantity(101, 1)).toMatchObject({ error: { code: 'TOKEN_READ_ONLY' } });
    const reports = nameOf({ key, label: 'reports' });
    expect(await admin.output('keys', 'show', main.id)).toMatch(new RegExp(`^${reports}\t.*\treads only, until `, 'm'));

    expect(await admin.failure('keys', 'add', main.id, '--label', 'reports')).toContain('has a token reports already');
    const since = new Date(clock.now).toISOString().slice(0, 16).replace('T', ' ');
    expect(await admin.failure('keys', 'end', main.id, '--token', reports)).toBe(
      `End a token: acme (${main.id}) on ${host.origin}? Requests with the token ${reports}, which works since ${since} UTC, are refused for good. ` +
        `The key goes on with ${nameOf(main)}. Nothing takes this back. Say --yes to go on without being asked.`,
    );
    expect(await statusOf({ key })).toBe(200);
    const ended = await admin.output('keys', 'end', main.id, '--token', reports, '--yes');
    expect(ended).toBe(`The token ${reports} of acme is refused from now on.\n`);
    expect([await statusOf(main), await statusOf({ key })]).toEqual([200, 401]);
    expect(await admin.failure('keys', 'end', main.id, '--token', nameOf(main))).toContain(
      `To end the key: npm run admin -- --url ${host.origin} keys revoke ${main.id}`,
    );
  });

  test('find asks for the token on standard input, and never takes it as an argument', async () => {
    const { key, id } = await issued();
    expect(await findInput(`${key}\n`)).toMatchObject({
      exitCode: 0,
      stdout: `It is of acme (${id}, free, active): its token ${nameOf({ key, label: 'main' })} works (reads and changes, was never shown: make it again).\n`,
    });
    expect(await findInput('')).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('keys find < FILE') });
    expect(await admin.failure('keys', 'find', 'the-token')).toContain('too many arguments');
  });
});

test('keys suspend refuses a key for a while (429), or until it is resumed (401, in API Gateway too)', async () => {
  const key = await issued();
  expect(await admin.json('keys', 'suspend', key.id, '--for', '1h')).toMatchObject({ state: 'suspended' });
  const { status, error, headers } = await apiOf(key).list();
  expect({ status, error }).toMatchObject({ status: 429, error: { code: 'API_KEY_SUSPENDED' } });
  expect(headers.get('Retry-After')).toBe('3600');
  expect(await admin.json('keys', 'resume', key.id)).toMatchObject({ state: 'active', suspendedUntil: null });
  expect(await statusOf(key)).toBe(200);

  expect(await admin.output('keys', 'suspend', key.id)).toBe(
    `acme is suspended until it is resumed. To let it in again: npm run admin -- --url ${host.origin} keys resume ${key.id}\n`,
  );
  expect(await statusOf(key)).toBe(401);
  expect(host.host.records.apiKey(key.id)).toMatchObject({ enabled: false });
  expect(await admin.output('keys', 'resume', key.id)).toBe('acme is active.\n');
  expect(await statusOf(key)).toBe(200);
  expect(await admin.output('keys', 'resume', key.id)).toBe('acme is not suspended: it is active.\n');
});

test('keys revoke asks first, and refuses a key from the very next request; nothing of it is left', async () => {
  const key = await issued();
  expect(await admin.failure('keys', 'revoke', key.id)).toBe(
    `Revoke acme (${key.id}, free) on ${host.origin}? Its requests are refused at once, for good. Say --yes to go on without being asked.`,
  );
  expect(await statusOf(key)).toBe(200);

  expect(await admin.output('keys', 'revoke', key.id, '--yes')).toBe(`acme (${key.id}) is revoked.\n`);
  expect(await statusOf(key)).toBe(401);
  expect(JSON.stringify(await admin.json('keys', 'list'))).not.toContain(key.id);
  expect(await admin.output('keys', 'revoke', key.id, '--yes')).toBe(`acme (${key.id}) is revoked already.\n`);
});

test.each([
  [401, ['suspend'], []],
  [429, ['suspend'], ['--for', '1h']],
  [401, ['rotate'], ['--grace', '0s']],
  [401, ['revoke'], ['--yes']],
])('%i for the very next request of a key, once keys %s %s has returned', async (status, command, options) => {
  const key = await issued();
  await statuses(key, 2);
  await admin.output('keys', ...command, key.id, ...options);

  expect(await statusOf(key)).toBe(status);
});

test('No key, nor what is stored in place of it, is in what other commands print', () => {
  const keys = [...(admin.newKeys.match(KEY_PATTERN) ?? []), ...Object.values(host.host.keys)];

  expect(keys.length).toBeGreaterThan(5);
  expectNoSecrets(admin.transcript, keys);
});
