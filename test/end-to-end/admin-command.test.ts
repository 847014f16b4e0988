import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { keyActions } from '../../infra/admin/key-actions.ts';
import { INTERNAL_PLAN } from '../../shared/key-registry/customer-plan.ts';
import { type PlanId, planIds, plans } from '../../shared/keys/plans.ts';
import { AdminCommand, run, Terminal, describeOnTerminal } from '../support/admin-command.ts';
import { ApiClient } from '../support/api-client.ts';
import { HostClock } from '../support/host-clock.ts';
import { LocalHost } from '../support/local-host.ts';
import { expectNoSecrets, KEY_PATTERN } from '../support/secrets.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

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

  test('takes agreed limits, which stand in tags, and an end', async () => {
    const soon = dateOf(Date.now() + 3 * DAY_MS);
    const options = ['--plan', 'enterprise', '--per-minute', '90', '--per-day', '5000', '--expires', soon];
    const { id, key, expires } = await admin.newKey('create', '--name', 'big', ...options);

    expect(expires).toBe(`${soon}T00:00:00.000Z`);
    expect(host.host.records.apiKey(id)?.tags).toMatchObject({ 'per-minute': '90', 'per-day': '5000' });
    clock.moveTo(Date.parse(soon) - 1);
    expect(await list(key)).toMatchObject({ status: 200, rateLimit: { limit: 90 } });
    clock.moveTo(Date.parse(soon));
    expect((await list(key)).status).toBe(401);
  });
});

test.each([
  [['keys', 'create', '--name', 'x', '--plan', 'pro', '--per-day', '5'], 'The plan pro has fixed limits.'],
  [['keys', 'create', '--name', 'x', '--plan', 'gold'], `Allowed choices are ${planIds.join(', ')}`],
  [['keys', 'craete'], "unknown command 'craete' (Did you mean create?) (see npm run admin -- keys --help)"],
  [['keys', 'rotate', 'x', '--grace', 'soon'], 'such as 30m, 24h or 7d'],
  [['keys', 'end', 'x'], "required option '--token <token>' not specified"],
  [
    ['keys', 'move', 'nobody', '--plan', 'pro'],
    'There is no key nobody. List the ids with: npm run admin -- --url http',
  ],
  [['usage', 'nobody'], 'There is no key nobody.'],
  [['usage'], ' usage --top 10'],
  [['usage', '--top', '3', '--days', '3'], "option '--top <n>' cannot be used with option '--days <n>'"],
  [['usage', 'demo-free', '--days', '91'], 'must be a whole number from 1 to 90'],
])('%j is refused in one line, and nothing is made', async (words, message) => {
  const before = host.host.records.apiKeys.length;

  expect(await admin.failure(...words)).toContain(message);
  expect(host.host.records.apiKeys).toHaveLength(before);
});

describe('keys list, keys show', () => {
  test('say of each key its name, plan, limits, state and use, with tabs in a pipe', async () => {
    const { id, key } = await admin.newKey('create', '--name', 'seen', '--plan', 'pro');
    clock.moveToFreshMinute();
    await request(key, 2);
    const [head = '', ...rows] = (await admin.output('keys', 'list')).trimEnd().split('\n');
    const mine = rows.map((row) => row.split('\t')).find(([first]) => first === id);

    expect(head).toBe('id\tname\tplan\tstate\tlast used\ttoday');
    expect(mine).toEqual([id, 'seen', 'pro', 'active', 'just now', '2/10,000']);
    expect(new Set(rows.map((row) => row.split('\t')[0]))).toEqual(new Set(customerKeys()));
    const view = expect.objectContaining({ id, plan: 'pro', usedThisMinute: 2, usedToday: 2 });
    expect(await admin.json('keys', 'show', id)).toEqual(view);
    expect(await admin.json('keys', 'list', '--search', 'SEEN')).toEqual([view]);
    expect(await admin.output('keys', 'show', 'Seen')).toMatch(/^State +active$[^]+^Today +2 of 10,000 requests$/m);
    const ofPro = JSON.stringify(await admin.json('keys', 'list', '--plan', 'pro'));
    expect(new Set(ofPro.match(/"plan":"\w+"/g))).toEqual(new Set(['"plan":"pro"']));
  });

  test('end quietly where the reader has read enough', async () => {
    const words = `"${process.execPath}" infra/admin/main.ts keys list --url ${host.origin}`;
    expect(await run('sh', ['-c', `${words} | true`])).toEqual({ exitCode: 0, stdout: '', stderr: '' });
  });
});

test('plans list shows each plan with its limits and how many keys it has', async () => {
  expect((await admin.output('plans', 'list')).split('\n')).toEqual([
    'plan\trequests a minute\trequests a day\tkeys',
    ...planIds.map((id) => {
      const { title, limits } = plans[id];
      const { perMinute, perDay } = limits === 'agreed' ? { perMinute: limits, perDay: limits } : limits;
      const shown = [perMinute, perDay].map((limit) => (limit === 'agreed' ? 'as agreed' : limit.toLocaleString('en')));
      return [title, ...shown, customerKeys(id).length].join('\t');
    }),
    '',
  ]);
});

test('usage shows the days of a key, of earlier ones what API Gateway has metered, and who is closest to their limits', async () => {
  clock.moveToFreshMinute();
  const { free, business } = host.host.keys;
  await Promise.all([request(free, 30), request(business, 10)]);
  expect(await admin.output('usage', '--top', '2')).toBe(
    'id\tname\tplan\tthis minute\ttoday\tused\n' +
      'demo-free\tDemo Free\tfree\t30 / 60\t30 / 1,000\t50.0 %\n' +
      'demo-business\tDemo Business\tbusiness\t10 / 1,000\t10 / 100,000\t1.0 %\n',
  );
  clock.moveTo(clock.now + DAY_MS);
  await request(free, 2);
  expect((await admin.output('usage', 'demo-free', '--days', '2')).split('\n')).toEqual([
    'Demo Free, free: requests a day, of 1,000; days without any of the last 2 are left out',
    '',
    expect.stringMatching(new RegExp(`^${dateOf(clock.now - DAY_MS)} +██ +30 +3\\.0 %$`)),
    expect.stringMatching(new RegExp(`^${dateOf(clock.now)} +█ +2 +0\\.2 %$`)),
    '',
  ]);
  clock.moveTo(clock.now - DAY_MS);
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
      closed: [],
      applied: [],
      left: [],
      problems: [],
    });
    expect(await admin.output('keys', 'sync')).toMatch(
      /^Keys: 0 added, 0 changed, 0 closed, 0 applied, 0 left to the next, \d+ unchanged\.\n$/,
    );
  });
});

test('--help is there for every command, without a host', async () => {
  const onKeys = ['create', 'list', 'show', ...Object.keys(keyActions), 'find', 'revoke', 'sync'];
  const imports = ['inventory', 'pets', 'orders'].flatMap((kind) => [`${kind} import`, `${kind} export`]);
  for (const words of [...onKeys.map((name) => `keys ${name}`), 'usage', 'plans list', ...imports]) {
    const stdout = await new AdminCommand('').output(...words.split(' '), '--help');
    expect(stdout).toMatch(new RegExp(`^Usage: npm run admin -- ${words}[^]+--json[^]+--url <url>[^]+--stage <stage>`));
  }
});

describeOnTerminal('On a terminal, keys revoke asks', () => {
  const folder = temporaryFolder();

  test.each([
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
