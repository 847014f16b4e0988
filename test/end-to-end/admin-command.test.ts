import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { keyActions } from '../../infra/admin/keys/key-actions.ts';
import { plans } from '../../shared/keys/plans.ts';
import { DAY_MS, isoDay } from '../../shared/keys/verdict.ts';
import { AdminCommand, describeOnTerminal, run, Terminal, whilePausing } from '../support/admin-command.ts';
import { ApiClient } from '../support/api-client.ts';
import { anApiKey } from '../support/gateway-records.ts';
import { describeWith } from '../support/programs.ts';
import { HostClock } from '../support/host-clock.ts';
import { LocalHost } from '../support/local-host.ts';
import { expectNoSecrets, KEY_PATTERN } from '../support/secrets.ts';
import { nameOf } from '../support/tables.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

let host: LocalHost;
let admin: AdminCommand;
let clock: HostClock;

beforeAll(async () => {
  host = await LocalHost.start();
  admin = new AdminCommand(host.origin);
  clock = new HostClock();
  // A command waits until cached refusals expire. Here the clock of the server advances instead.
  whilePausing((milliseconds) => clock.advance(milliseconds));
});

afterAll(() => {
  clock.release();
  return host.close();
});

const minuteOf = (epochMs: number): string => new Date(epochMs).toISOString().slice(0, 16).replace('T', ' ');
const list = (token: string) => ApiClient.withKey(host.baseUrl, token).list();
const statusesOf = (...tokens: string[]) => Promise.all(tokens.map(async (token) => (await list(token)).status));
const tokenIn = (text: string): string => text.match(KEY_PATTERN)?.[0] ?? '';

describe('The admin command', () => {
  let id: string;
  /** Of the label `main`: the first token, and the one that takes its place. */
  let first: string;
  let second: string;

  test('creates a key on a plan and shows its token', async () => {
    const stdout = await admin.output('keys', 'create', '--name', 'acme', '--plan', 'free');
    [, id = ''] = /Id +(\w+)/.exec(stdout) ?? [];
    first = tokenIn(stdout);

    expect(stdout).toContain('acme is on Free: 60 requests per minute, 1,000 per day.');
    expect(host.host.records.plansOfKey(id)).toMatchObject([{ tags: { plan: 'free' } }]);
    expect(await list(first)).toMatchObject({ status: 200, rateLimit: { limit: 60 } });
  });

  test('lists and shows the name, plan, limits, state and use of a key', async () => {
    clock.moveToFreshMinute();
    const minute = minuteOf(clock.now);
    await statusesOf(first, first);
    const [head, ...rows] = (await admin.output('keys', 'list')).trimEnd().split('\n');

    expect(head).toBe('id\tname\tplan\tstate\tlast used (UTC)\ttoday');
    expect(rows).toContain(`${id}\tacme\tfree\tactive\t${minute}\t3/1,000`);
    expect(rows.length).toBeGreaterThan(1);
    const view = expect.objectContaining({ id, plan: 'free', usedThisMinute: 2, usedToday: 3 });
    expect(await admin.json('keys', 'list', '--search', 'ACME', '--plan', 'free')).toEqual([view]);
    expect(await admin.output('keys', 'show', 'Acme')).toMatch(/^State +active$[^]+^Today +3 of 1,000 requests$/m);
  });

  test('moves a key: its limits change immediately and its counters stay', async () => {
    const moved = { id, plan: 'pro', perMinute: 300, perDay: 10_000, state: 'active', usedToday: 3 };
    expect(await admin.json('keys', 'move', id, '--plan', 'pro')).toMatchObject(moved);
    expect(await list(first)).toMatchObject({ status: 200, rateLimit: { limit: 300, remaining: 297 } });
  });

  test('rotates a token: the old one stays valid until the grace ends; without a grace it is denied', async () => {
    const rotated = await admin.newKey('rotate', id);
    second = rotated.token;
    const graceEnd = Date.parse(String(rotated['graceEnds']));

    expect(rotated).toMatchObject({ id, label: 'main', replaces: [nameOf({ label: 'main', token: first })] });
    expect(graceEnd - clock.now).toBe(DAY_MS);
    expect(await admin.failure('keys', 'rotate', id)).toContain(`is valid until ${isoDay(graceEnd)} `);
    clock.moveTo(graceEnd - 1);
    expect(await statusesOf(first, second)).toEqual([200, 200]);
    clock.moveTo(graceEnd);
    expect(await statusesOf(first, second)).toEqual([401, 200]);

    const text = await admin.output('keys', 'rotate', id, '--grace', '0s', '--yes');
    expect(text).toContain(`Denied from now on: ${nameOf(rotated)}.`);
    expect(await statusesOf(second, tokenIn(text))).toEqual([401, 200]);
    second = tokenIn(text);
  });

  test('adds a read-only token under the same limit and revokes it after a confirmation', async () => {
    const added = await admin.output('keys', 'add', id, '--label', 'reports', '--read-only', '--expires', '2d');
    const since = minuteOf(clock.now);
    const token = tokenIn(added);
    const [main, reports] = [nameOf({ label: 'main', token: second }), nameOf({ label: 'reports', token })];

    expect(added).toMatch(/^ {4}Label {4}reports\n {4}Access {3}read-only$/m);
    const { rateLimit } = await list(second);
    expect((await list(token)).rateLimit.remaining).toBe(rateLimit.remaining - 1);
    const update = await ApiClient.withKey(host.baseUrl, token).setQuantity(101, 1);
    expect(update).toMatchObject({ error: { code: 'TOKEN_READ_ONLY' } });
    expect(await admin.output('keys', 'show', id)).toMatch(new RegExp(`^${reports}\t.*\tread-only, until `, 'm'));

    const revoke = ['keys', 'revoke-token', id, '--token', reports];
    expect(await admin.failure(...revoke)).toBe(
      `Revoke a token: acme (${id}) on ${host.origin}? Requests with the token ${reports}, valid since ${since} UTC, are denied permanently. ` +
        `The key keeps ${main}. This cannot be undone. Pass --yes to confirm.`,
    );
    expect(await statusesOf(token)).toEqual([200]);
    expect(await admin.output(...revoke, '--yes')).toBe(`The token ${reports} of acme is revoked.\n`);
    expect(await statusesOf(second, token)).toEqual([200, 401]);
  });

  test('finds the key of a token on standard input, and takes no token as an argument', async () => {
    const find = `"${process.execPath}" infra/admin/main.ts keys find --url ${host.origin}`;
    const findInput = (input: string) => run('sh', ['-c', `printf %s "$TOKEN" | ${find}`], { TOKEN: input });
    const found = `It belongs to acme (${id}, pro, active). Its token ${nameOf({ label: 'main', token: second })} is valid (full access).\n`;

    expect(await findInput(`${second}\n`)).toEqual({ exitCode: 0, stdout: found, stderr: '' });
    expect(await findInput('')).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('keys find < FILE') });
    expect(await admin.failure('keys', 'find', 'the-token')).toContain('too many arguments');
    expect(await admin.failure('keys', 'list', '--search', second)).toContain('A token must not be an argument. ');
    expect(await admin.failure('usage', second)).toContain('That is a token. ');
  });

  test('suspends a key for a time (429) or until it is resumed (401)', async () => {
    expect(await admin.json('keys', 'suspend', id, '--for', '1h')).toMatchObject({ state: 'suspended' });
    const { status, error, headers } = await list(second);
    expect({ status, error }).toMatchObject({ status: 429, error: { code: 'API_KEY_SUSPENDED' } });
    expect(headers.get('Retry-After')).toBe('3600');
    expect(await admin.json('keys', 'resume', id)).toMatchObject({ state: 'active', suspendedUntil: null });
    expect(await statusesOf(second)).toEqual([200]);

    expect(await admin.output('keys', 'suspend', id)).toBe(
      `acme is suspended until it is resumed. To resume it: npm run admin -- --url ${host.origin} keys resume ${id}\n`,
    );
    expect(await statusesOf(second)).toEqual([401]);
    expect(await admin.output('keys', 'resume', id)).toBe('acme is active.\n');
    expect(await admin.output('keys', 'resume', id)).toBe('acme is not suspended: it is active.\n');
  });

  test('draws the use of a key per day', async () => {
    await statusesOf(second, second);
    clock.advance(DAY_MS);
    await statusesOf(second);

    expect((await admin.output('usage', id, '--days', '2')).split('\n')).toEqual([
      'day (UTC)\tadmitted\trefused\t',
      expect.stringMatching(new RegExp(`^${isoDay(clock.now - DAY_MS)}\t\\d+\t0\t█{40}$`)),
      expect.stringMatching(new RegExp(`^${isoDay(clock.now)}\t1\t0\t█+$`)),
      '',
      expect.stringMatching(
        /^Today 1, in 2 days \d+ admitted, at least 0 refused, most \d+ on .* The limit is 10,000 per day\.$/,
      ),
      '',
    ]);
    expect(await admin.output('usage')).toContain(`${id}\tacme\tpro\t1\t0\t9,999\n`);
  });

  test('revokes a key after a confirmation and denies the next request', async () => {
    expect(await admin.failure('keys', 'revoke', id)).toBe(
      `Revoke permanently: acme (${id}) on ${host.origin}? All its requests, with its token, are denied permanently. This cannot be undone. Pass --yes to confirm.`,
    );
    expect(await statusesOf(second)).toEqual([200]);
    expect(await admin.output('keys', 'revoke', id, '--yes', '--reason', 'left')).toBe(`acme (${id}) is revoked.\n`);
    expect(await statusesOf(second)).toEqual([401]);
    expect(await admin.output('keys', 'history', id)).toMatch(
      /^time\twho\twhat\n.*\trevoked; because: left\n[^]*\tcreated on free; token main\/.{4} added\n$/,
    );
    expect(host.host.records.apiKey(id)).toBeUndefined();
  });
});

test('A key may have agreed limits in tags and an expiry that may be edited', async () => {
  const soon = isoDay(clock.now + 3 * DAY_MS);
  const options = ['--plan', 'enterprise', '--per-minute', '90', '--per-day', '5,000', '--expires', soon];
  const { id, token, expires } = await admin.newKey('create', '--name', 'big', ...options);

  expect(expires).toBe(`${soon}T00:00:00.000Z`);
  expect(host.host.records.apiKey(id)?.tags).toMatchObject({ 'per-minute': '90', 'per-day': '5000' });
  clock.moveTo(Date.parse(soon) - 1);
  expect(await list(token)).toMatchObject({ status: 200, rateLimit: { limit: 90 } });
  clock.moveTo(Date.parse(soon));
  expect(await statusesOf(token)).toEqual([401]);
  expect(await admin.output('keys', 'edit', id, '--expires', 'never')).toBe('big is active. It expires: never.\n');
  expect(await statusesOf(token)).toEqual([200]);
});

test.each([
  [['keys', 'create', '--name', 'x', '--plan', 'gold'], `Allowed choices are ${Object.keys(plans).join(', ')}`],
  [['keys', 'craete'], "unknown command 'craete' (Did you mean create?) (see npm run admin -- keys --help)"],
  [['keys', 'revoke-token', 'x'], "required option '--token <token>' not specified"],
  [['usage', 'nobody'], 'There is no key nobody. To list all keys: npm run admin -- --url http'],
  [['usage', 'demo-free', '--days', '401'], 'must be a whole number from 1 to 400'],
  [['usage', '--days', '7'], '--days requires a key.'],
  [['restore', 'usage', '--from', 'copy', '--exact', '--yes'], '--exact is not supported for usage.'],
  [['console', '--port', '0'], 'must be a whole number from 1 to 65,535'],
])('%j fails with one line and creates no key', async (words, message) => {
  const before = host.host.records.apiKeys.length;

  expect(await admin.failure(...words)).toContain(message);
  expect(host.host.records.apiKeys).toHaveLength(before);
});

test('keys sync adopts a key from the AWS console; all commands escape control characters in its name', async () => {
  const name = 'Acme\u001b[2J\u009b31m\t\nPets\u202e';
  const shown = String.raw`Acme\u001b[2J\u009b31m\u0009\u000aPets\u202e`;
  const { records } = host.host;
  const planId = records.apiKey('demo-free')?.planId;
  records.putApiKey(anApiKey({ id: 'by-hand', name, value: 'a-value-of-twenty-characters', planId }));
  expect(await admin.json('keys', 'sync')).toMatchObject({ changed: [], problems: [] });
  expect(await admin.output('keys', 'sync')).toMatch(
    /^Keys: 0 added, 0 changed, 0 blocked, 0 applied, 0 left for the next sync, \d+ unchanged\.\n$/,
  );

  expect(await admin.output('keys', 'list')).toContain(`by-hand\t${shown}\tfree\t`);
  expect(await admin.json('keys', 'show', 'by-hand')).toMatchObject({ name });
  expect(await admin.failure('keys', 'revoke', 'by-hand')).toContain(`Revoke permanently: ${shown} (by-hand)`);
  for (const [words, message] of [
    [['suspend'], `${shown} is suspended until`],
    [['resume'], `${shown} is active.`],
    [['move', '--plan', 'pro'], `${shown} is on Pro now`],
    [['revoke', '--yes'], `${shown} (by-hand) is revoked.`],
    [['revoke'], `${shown} (by-hand) is revoked already.`],
  ] as const) {
    const [action, ...options] = words;
    expect(await admin.output('keys', action, 'by-hand', ...options)).toContain(message);
  }
});

test('--help is there for every command, without a server', async () => {
  const onKeys = ['create', 'list', 'show', 'history', ...Object.keys(keyActions), 'find', 'sync'];
  const files = ['inventory', 'pets', 'orders'].flatMap((kind) => [`${kind} import`, `${kind} export`]);
  const onStock = ['inventory history', 'inventory changes'];
  for (const words of [...onKeys.map((name) => `keys ${name}`), 'usage', 'restore', ...files, ...onStock]) {
    const stdout = await new AdminCommand('').output(...words.split(' '), '--help');
    expect(stdout).toMatch(new RegExp(`^Usage: npm run admin -- ${words}[^]+--json[^]+--url <url>[^]+--stage <stage>`));
  }
});

test('A command ends quietly if the reader of its output disconnects', async () => {
  const words = `"${process.execPath}" infra/admin/main.ts keys list --url ${host.origin}`;
  expect(await run('sh', ['-c', `${words} | true`])).toEqual({ exitCode: 0, stdout: '', stderr: '' });
});

describeOnTerminal('On a terminal, keys revoke', () => {
  const directory = temporaryDirectory();

  test.each([
    ['changes nothing after Ctrl-C', '\u0003', 1, 200, /\nNothing was changed\.$/, /^$/],
    ['goes on after a yes', 'y\r', 0, 401, /\(y\/N\) y$/, /^\{.*"revoked".*\}\n$/],
  ])('%s', async (_, keys, exitCode, status, end, result) => {
    const { id, token } = await admin.newKey('create', '--name', 'acme', '--plan', 'free');
    const file = join(directory, id);
    const terminal = new Terminal(`admin keys revoke ${id} --json --url ${host.origin} > ${file}`);
    await terminal.typeAt('(y/N)', keys);
    const { exitCode: ended, screen } = await terminal.ended();

    expect({ ended, statuses: await statusesOf(token) }).toEqual({ ended: exitCode, statuses: [status] });
    expect(stripVTControlCharacters(screen).trimEnd()).toMatch(end);
    expect(readFileSync(file, 'utf8')).toMatch(result);
  });
});

describeWith(['curl'], 'The curl command that is shown with a new key', () => {
  test('works', async () => {
    const stdout = await admin.output('keys', 'create', '--name', 'globex', '--plan', 'free');
    const { stdout: response } = await run('sh', ['-c', `${/curl .*/.exec(stdout)?.[0]} --silent --include`]);

    expect(response).toMatch(/^HTTP\/1\.1 200 [^]*^X-RateLimit-Limit: 60\r$/im);
  });
});

test('No command prints a token or its stored hash, except for the token that it creates', () => {
  const tokens = [...(admin.newKeys.match(KEY_PATTERN) ?? []), ...Object.values(host.host.keys)];

  expect(tokens.length).toBeGreaterThan(5);
  expectNoSecrets(admin.transcript, tokens);
  expectNoSecrets(admin.newKeys.replaceAll(KEY_PATTERN, ''), tokens);
});
