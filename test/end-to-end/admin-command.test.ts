import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { plans } from '../../shared/keys/plans.ts';
import { DAY_MS } from '../../shared/keys/verdict.ts';
import {
  AdminCommand,
  type CreatedKey,
  describeOnTerminal,
  run,
  Terminal,
  whilePausing,
} from '../support/admin-command.ts';
import { ApiClient } from '../support/api-client.ts';
import { awsFault, FaultyLink } from '../support/faulty-engine.ts';
import { anApiKey } from '../support/gateway-records.ts';
import { describeWith } from '../support/programs.ts';
import { HostClock } from '../support/clocks.ts';
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

  test('rotates a token: the old one stays valid for its grace period; without one it is denied', async () => {
    const rotated = await admin.newKey('rotate', id);
    second = rotated.token;
    const graceEnds = new Date(clock.now + DAY_MS).toISOString();

    expect(rotated).toMatchObject({ replaces: [nameOf({ label: 'main', token: first })], graceEnds });
    expect(await admin.failure('keys', 'rotate', id)).toContain(`is valid until ${graceEnds.slice(0, 10)} `);
    expect(await statusesOf(first, second)).toEqual([200, 200]);

    const text = await admin.output('keys', 'rotate', id, '--grace', '0s', '--yes');
    expect(text).toMatch(/Denied from now on: main.*, main.*\./);
    expect(await statusesOf(first, second, tokenIn(text))).toEqual([401, 401, 200]);
    second = tokenIn(text);
  });

  test('adds a read-only token and revokes it after a confirmation', async () => {
    const added = await admin.output('keys', 'add', id, '--label', 'reports', '--read-only', '--expires', '2d');
    const since = minuteOf(clock.now);
    const token = tokenIn(added);
    const [main, reports] = [nameOf({ label: 'main', token: second }), nameOf({ label: 'reports', token })];

    expect(added).toMatch(/^ {4}Label {4}reports\n {4}Access {3}read-only$/m);
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

  test('suspends a key until it is resumed', async () => {
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

    expect(await admin.output('usage', id, '--days', '2')).toMatch(
      /^day \(UTC\)\tadmitted\trefused\t\n.*\t\d+\t0\t█{40}\n.*\t1\t0\t█+\n\nToday 1, in 2 days \d+ admitted, at least 0 refused, most \d+ on .* The limit is 10,000 per day\.\n$/,
    );
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

test.each([
  [['keys', 'create', '--name', 'x', '--plan', 'gold'], `Allowed choices are ${Object.keys(plans).join(', ')}`],
  [['keys', 'craete'], "unknown command 'craete' (Did you mean create?) (see npm run admin -- keys --help)"],
  [['keys', 'revoke-token', 'x'], "required option '--token <token>' not specified"],
  [['usage', 'nobody'], 'There is no key nobody. To list all keys: npm run admin -- --url http'],
  [['usage', 'demo-free', '--days', '401'], 'must be a whole number from 1 to 400'],
  [['usage', '--days', '7'], '--days requires a key.'],
  [['restore', 'usage', '--from', 'copy', '--exact', '--yes'], '--exact is not supported for usage.'],
  [['console', '--port', '0'], 'must be a whole number from 1 to 65,535'],
])('%j fails with one line', async (words, message) => {
  expect(await admin.failure(...words)).toContain(message);
});

test('keys sync adopts a key from the AWS console; no command prints the control characters of its name', async () => {
  const name = 'Acme\u001b[2J\u009b31m\t\nPets\u202e';
  const shown = String.raw`Acme\u001b[2J\u009b31m\u0009\u000aPets\u202e`;
  const { records } = host.host;
  const planId = records.apiKey('demo-free')?.planId;
  records.putApiKey(anApiKey({ id: 'by-hand', name, value: 'a-value-of-twenty-characters', planId }));
  // The server's own sync may add it at the same time.
  expect(await admin.output('keys', 'sync')).toMatch(/^Keys: \d added, 0 changed, .*, \d+ unchanged\.\n$/);
  expect(await admin.json('keys', 'show', 'by-hand')).toMatchObject({ name });
  expect(await admin.failure('keys', 'revoke', 'by-hand')).toContain(`Revoke permanently: ${shown} (by-hand)`);
  for (const words of ['list', 'suspend by-hand', 'resume by-hand', 'move by-hand --plan pro', 'revoke by-hand --yes'])
    expect(await admin.output('keys', ...words.split(' '))).toContain(shown);
});

test.each(['keys create', 'usage', 'inventory history'])('%s --help needs no server', async (words) => {
  const stdout = await new AdminCommand('').output(...words.split(' '), '--help');
  expect(stdout).toMatch(new RegExp(`^Usage: npm run admin -- ${words}[^]+--json[^]+--url <url>[^]+--stage <stage>`));
});

test('--version needs no server', async () => {
  expect(await new AdminCommand('').output('--version')).toMatch(/^\d+\.\d+\.\d+\n$/);
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

describe('If the network or AWS fails', () => {
  let link: FaultyLink;
  /** Calls the server by way of the link. */
  let faulty: AdminCommand;

  beforeEach(async () => {
    link = await FaultyLink.to(host.origin);
    faulty = new AdminCommand(link.origin);
  });
  afterEach(() => link?.close());

  const tooMany = awsFault(429, 'TooManyRequestsException', 'Too Many Requests');
  const create = ['create', '--name', 'acme', '--plan', 'free'];

  test('keys create waits while it is throttled, and the key works without API Gateway', async () => {
    let throttled = 0;
    link.faults = ({ method, path }) => {
      const isFirst = method === 'GET' && path.startsWith('/usageplans') && (throttled += 1) === 1;
      return isFirst || (method === 'POST' && path === '/apikeys') ? tooMany : undefined;
    };
    // A process of its own: in this one the calls of commands are not paced, and do not wait.
    const words = ['infra/admin/main.ts', 'keys', ...create, '--json', '--url', link.origin];
    const { exitCode, stdout, stderr } = await run(process.execPath, words);
    const { token, applied }: CreatedKey = JSON.parse(stdout);

    expect({ exitCode, applied }).toEqual({ exitCode: 0, applied: false });
    expect(stderr.split('\n')).toEqual([
      'API Gateway throttles the calls; waiting …',
      expect.stringMatching(/^The change is in effect, .* \(Too Many Requests\)\. /),
      '',
    ]);
    expect(await statusesOf(token)).toEqual([200]);
  });

  test('The token of an interrupted rotation is invalid, and the next rotation replaces it', async () => {
    const { id, token } = await faulty.newKey(...create);
    let writes = 0;
    link.faults = ({ action }) => (action === 'UpdateItem' && (writes += 1) > 1 ? { kind: 'gone' } : undefined);
    const { exitCode, stdout, stderr } = await faulty.run('keys', 'rotate', id, '--json');
    const { token: notConfirmed }: CreatedKey = JSON.parse(stdout);

    expect({ exitCode, stderr }).toEqual({
      exitCode: 1,
      stderr: expect.stringMatching(/^Do not use the token shown above: .+\. No server responds at http:.+\n$/),
    });
    const { token: rotated } = await admin.newKey('rotate', id);
    expect(await statusesOf(token, notConfirmed, rotated)).toEqual([200, 401, 200]);
  });

  test('A response of a proxy is reported in one line, with the effect of a retry', async () => {
    const response = { kind: 'response', status: 200, body: '<html>\n<body>Log in' } as const;
    link.faults = ({ path }) => (path === '/outputs.json' ? undefined : response);

    expect(await faulty.failure('keys', ...create)).toMatch(
      /^The call to AWS failed: Unexpected token '<'.*\. It is safe to run the same command again: it creates another key\. /,
    );
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
