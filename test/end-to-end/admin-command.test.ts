import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { INTERNAL_PLAN } from '../../shared/key-registry/customer-plan.ts';
import type { PlanId } from '../../shared/keys/plans.ts';
import { AdminCommand, run, Terminal, terminalObstacle } from '../support/admin-command.ts';
import { ApiClient } from '../support/api-client.ts';
import { HostClock } from '../support/host-clock.ts';
import { LocalHost } from '../support/local-host.ts';
import { expectNoSecrets, KEY_PATTERN } from '../support/secrets.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const TODAY = /^\d{4}-\d{2}-\d{2}$/;
const MINUTE = expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:00\.000Z$/);
const DAY_MS = 86_400_000;
const dateOf = (epochMs: number): string => new Date(epochMs).toISOString().slice(0, 10);
let host: LocalHost;
let admin: AdminCommand;
let clock: HostClock;
beforeAll(async () => {
  host = await LocalHost.start();
  admin = new AdminCommand(host.origin);
  clock = new HostClock();
});

afterAll(() => {
  clock.release();
  return host.close();
});

/** Ids of the keys on a customer plan. */
function customerKeys(plan?: PlanId): string[] {
  const { records } = host.host;
  const isOne = (tag = ''): boolean => (plan === undefined ? tag !== INTERNAL_PLAN : tag === plan);
  const usagePlans = records.usagePlans.filter(({ tags }) => isOne(tags['plan']));
  return usagePlans.flatMap(({ id }) => records.keysOnPlan(id).map((key) => key.id));
}

const list = (key: string) => ApiClient.withKey(host.baseUrl, key).list();
const request = (key: string, count: number): Promise<unknown> =>
  Promise.all(Array.from({ length: count }, () => list(key)));

describe('keys create', () => {
  test('puts a key on a plan and prints it, with a curl that works', async () => {
    const stdout = await admin.output('keys', 'create', '--name', 'acme', '--plan', 'business');
    const [curl = ''] = /curl .*/.exec(stdout) ?? [];
    const [, id = ''] = /Id +(\w+)/.exec(stdout) ?? [];
    const { stdout: answer } = await run('sh', ['-c', `${curl} --silent --include`]);

    expect(new Set(stdout.match(KEY_PATTERN)).size).toBe(1);
    expect(stdout).toContain('acme is on Business: 1,000 requests a minute, 100,000 a day.');
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    expect(answer).toMatch(/^X-RateLimit-Limit: 1000\r$/im);
    expect(host.host.records.plansOfKey(id)).toMatchObject([{ tags: { plan: 'business' } }]);
  });

  test('tags an Enterprise key with the limits that were agreed', async () => {
    const limits = ['--per-minute', '90', '--per-day', '5000'];
    const { id, key } = await admin.newKey('create', '--name', 'big', '--plan', 'enterprise', ...limits);

    expect(await list(key)).toMatchObject({ status: 200, rateLimit: { limit: 90, remaining: 89 } });
    expect(host.host.records.plansOfKey(id)).toMatchObject([{ tags: { plan: 'enterprise' } }]);
    expect(host.host.records.apiKey(id)?.tags).toEqual({ 'per-minute': '90', 'per-day': '5000' });
  });

  test('makes a read-only key where that is asked for', async () => {
    const text = await admin.output('keys', 'create', '--name', 'reader', '--plan', 'free', '--read-only');
    const [key = ''] = text.match(KEY_PATTERN) ?? [];

    expect(text).toContain('\n    It reads only.\n');
    expect((await list(key)).status).toBe(200);
    expect((await ApiClient.withKey(host.baseUrl, key).setQuantity(101, 1)).error?.code).toBe('TOKEN_READ_ONLY');
  });

  test('ends a key when it is to expire', async () => {
    const soon = dateOf(Date.now() + 3 * DAY_MS);
    const { key, expires } = await admin.newKey('create', '--name', 'trial', '--plan', 'free', '--expires', soon);
    const before = await list(key);
    clock.moveTo(Date.parse(soon) - 1);
    const atTheEnd = await list(key);
    clock.moveTo(Date.parse(soon));
    const later = [atTheEnd.status, (await list(key)).status];

    expect(expires).toBe(`${soon}T00:00:00.000Z`);
    expect([before.status, ...later]).toEqual([200, 200, 401]);
  });
});

test.each([
  ['limits on another plan', ['create', '--name', 'x', '--plan', 'pro', '--per-day', '5'], 'has fixed limits'],
  ['a plan that is not there', ['create', '--name', 'x', '--plan', 'gold'], 'Allowed choices are free, pro, business'],
  ['an unknown command', ['craete'], "unknown command 'craete' (see npm run admin -- keys --help)"],
])('keys with %s is refused in one line, and nothing is made', async (_, words, message) => {
  const before = host.host.records.apiKeys.length;

  expect(await admin.failure('keys', ...words)).toContain(message);
  expect(host.host.records.apiKeys).toHaveLength(before);
});

test('An unknown id is named, whatever the command', async () => {
  const commands = [
    'keys show',
    'keys move --plan pro',
    'keys rotate',
    'keys add --label x',
    'keys end --label x',
    'keys suspend',
    'keys revoke --yes',
    'usage',
  ];
  const lines = await Promise.all(commands.map((words) => admin.failure(...words.split(' '), 'nobody')));

  const line = 'There is no key nobody. List the ids with: npm run admin -- keys list';
  expect(lines).toEqual(commands.map(() => line));
});

describe('keys list, keys show', () => {
  test('say of each key its name, plan, limits, state and use, with tabs in a pipe', async () => {
    const { id, key } = await admin.newKey('create', '--name', 'seen', '--plan', 'pro');
    const [head = '', ...rows] = (await admin.output('keys', 'list')).trimEnd().split('\n');
    const mine = rows.map((row) => row.split('\t')).find(([first]) => first === id);
    expect(head).toBe('id\tname\tplan\tstate\tcreated\tlast used (UTC)\tthis minute\ttoday');
    expect(mine).toEqual([id, 'seen', 'pro', 'active', expect.stringMatching(TODAY), 'never', '0 / 300', '0 / 10,000']);
    expect(new Set(rows.map((row) => row.split('\t')[0]))).toEqual(new Set(customerKeys()));

    clock.moveToFreshMinute();
    await list(key);
    await list(key);
    const view = expect.objectContaining({ id, plan: 'pro', lastUsed: MINUTE, usedThisMinute: 2, usedToday: 2 });
    const [shown, text, ofPro] = await Promise.all([
      admin.json('keys', 'show', id),
      admin.output('keys', 'show', id),
      admin.json('keys', 'list', '--plan', 'pro'),
    ]);
    expect(shown).toEqual(view);
    expect(text).toMatch(/^State +active$/m);
    expect(text).toMatch(/^This minute +2 of 300 requests$/m);
    expect(text).toMatch(/^Today +2 of 10,000 requests$/m);
    expect(ofPro).toEqual(expect.arrayContaining([view]));
    expect(new Set(JSON.stringify(ofPro).match(/"plan":"\w+"/g))).toEqual(new Set(['"plan":"pro"']));
  });

  test('end quietly where the reader has read enough', async () => {
    const words = `"${process.execPath}" infra/admin/main.ts keys list --url ${host.origin}`;
    expect(await run('sh', ['-c', `${words} | true`])).toEqual({ exitCode: 0, stdout: '', stderr: '' });
  });
});

describe('plans list', () => {
  test('shows each plan with its limits and how many keys it has', async () => {
    const [head, ...rows] = (await admin.output('plans', 'list')).trimEnd().split('\n');

    expect(head).toBe('plan\trequests a minute\trequests a day\tkeys');
    expect(rows.map((row) => row.split('\t'))).toEqual([
      ['Free', '60', '1,000', String(customerKeys('free').length)],
      ['Pro', '300', '10,000', String(customerKeys('pro').length)],
      ['Business', '1,000', '100,000', String(customerKeys('business').length)],
      ['Enterprise', 'as agreed', 'as agreed', String(customerKeys('enterprise').length)],
    ]);
    expect(await admin.json('plans', 'list')).toHaveLength(4);
  });
});

describe('usage ID', () => {
  beforeAll(async () => {
    clock.moveToFreshMinute();
    const { free, pro } = host.host.keys;
    await Promise.all([request(free, 30), request(pro, 60)]);
  });

  test('draws a bar for each day, today last: of 30 days unless it is told otherwise', async () => {
    const now = clock.now;
    const lines = (await admin.output('usage', 'demo-free', '--days', '3')).split('\n');

    expect(lines).toEqual([
      'Demo Free, free: requests a day, of 1,000',
      '',
      `${dateOf(now - 2 * DAY_MS)} to ${dateOf(now - DAY_MS)}: none`,
      expect.stringMatching(new RegExp(`^${dateOf(now)} +█▎? +30 +3\\.0 %$`)),
      '',
    ]);
    expect(await admin.json('usage', 'demo-pro')).toHaveProperty('days.29', { date: dateOf(now), requests: 60 });
  });

  test('tells of earlier days what API Gateway has metered', async () => {
    clock.moveTo(clock.now + DAY_MS);
    await request(host.host.keys.pro, 2);

    expect(await admin.json('usage', 'demo-pro', '--days', '2')).toMatchObject({
      days: [{ requests: 60 }, { requests: 2 }],
    });
    clock.moveTo(clock.now - DAY_MS);
  });
});

test('usage --top shows who is closest to their limits', async () => {
  clock.moveToFreshMinute();
  await Promise.all([request(host.host.keys.free, 30), request(host.host.keys.business, 10)]);
  const [head, ...rows] = (await admin.output('usage', '--top', '2')).trimEnd().split('\n');

  expect(head).toBe('id\tname\tplan\tthis minute\ttoday\tused');
  expect(rows).toEqual([
    'demo-free\tDemo Free\tfree\t30 / 60\t60 / 1,000\t50.0 %',
    'demo-business\tDemo Business\tbusiness\t10 / 1,000\t10 / 100,000\t1.0 %',
  ]);
});

describe('keys sync', () => {
  test('says what it took over, and then that there is nothing left', async () => {
    const { records } = host.host;
    const business = records.plansOfKey('demo-business')[0]?.id ?? '';
    records.removeFromPlan(business, 'demo-business');
    records.putOnPlan(records.plansOfKey('demo-pro')[0]?.id ?? '', 'demo-business');

    expect(await admin.json('keys', 'sync')).toMatchObject({
      added: [],
      changed: ['demo-business'],
      disabled: [],
      removed: [],
      conflicts: [],
      problems: [],
    });
    expect(await admin.output('keys', 'sync')).toMatch(
      /^Keys: 0 added, 0 changed, 0 disabled, 0 removed, 0 changed meanwhile, \d+ unchanged\.\n$/,
    );
  });
});

test.each([
  ['without a key', ['usage'], 'Say whose usage: npm run admin -- usage ID, or npm run admin -- usage --top 10'],
  ['of the top for days', ['usage', '--top', '3', '--days', '3'], '--days goes with an id, not with --top.'],
  ['of more days than there are', ['usage', 'demo-free', '--days', '91'], 'must be a whole number from 1 to 90'],
])('usage %s says what to do in one line', async (_, words, message) => {
  expect(await admin.failure(...words)).toContain(message);
});

test('--help is there for every command, without a host', async () => {
  const onKeys = [
    'create',
    'list',
    'show',
    'move',
    'rotate',
    'add',
    'end',
    'find',
    'suspend',
    'resume',
    'revoke',
    'sync',
  ];
  const commands = [...onKeys.map((name) => `keys ${name}`), 'usage', 'plans list', 'inventory export'];
  for (const words of [...commands, ...['inventory', 'pets', 'orders'].map((kind) => `${kind} import`)]) {
    const { exitCode, stdout, stderr } = await new AdminCommand('').run(...words.split(' '), '--help');
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(stdout).toMatch(new RegExp(`^Usage: npm run admin -- ${words}[^]+--url <url>[^]+--stage <stage>[^]+--json`));
  }
});

const obstacle = terminalObstacle();
if (obstacle !== undefined) process.stderr.write(`The tests on a terminal are skipped: ${obstacle}.\n`);

(obstacle === undefined ? describe : describe.skip)('On a terminal, keys revoke asks', () => {
  const folder = temporaryFolder();

  test.each([
    ['and changes nothing after no more than the Enter key', '\r', 1, 200, /\nNothing was changed\.$/, /^$/],
    ['and changes nothing after Ctrl-C', '\u0003', 1, 200, /\nNothing was changed\.$/, /^$/],
    [
      'and goes on after a yes, the result alone on standard output',
      'y\r',
      0,
      401,
      /\(y\/N\) y$/,
      /^\{.*"revoked".*\}\n$/,
    ],
  ])('%s', async (_, keys, exitCode, status, end, result) => {
    const { id, key } = await admin.newKey('create', '--name', 'acme', '--plan', 'free');
    const file = join(folder, id);
    const terminal = new Terminal(`admin keys revoke ${id} --json --url ${host.origin} > ${file}`);
    await terminal.typeAt('(y/N)', keys);
    const { exitCode: ended, screen } = await terminal.ended();

    const text = stripVTControlCharacters(screen).trimEnd();
    expect(text).toContain(`Revoke acme (${id}, free) on ${host.origin}? Its requests are refused at once, for good.`);
    expect({ ended, status: (await list(key)).status }).toEqual({ ended: exitCode, status });
    expect(text).toMatch(end);
    expect(readFileSync(file, 'utf8')).toMatch(result);
  });
});

test('No key, nor what is stored in place of it, is in what other commands print', () => {
  const keys = [...(admin.newKeys.match(KEY_PATTERN) ?? []), ...Object.values(host.host.keys)];

  expect(keys.length).toBeGreaterThan(5);
  expectNoSecrets(admin.transcript, keys);
  expectNoSecrets(admin.newKeys.replaceAll(KEY_PATTERN, ''), keys);
});
