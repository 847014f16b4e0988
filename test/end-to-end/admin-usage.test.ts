import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createKey, type NewKey } from '../../infra/admin/keys/create-key.ts';
import { AdminCommand, adminTarget, closeTarget, Terminal, terminalObstacle } from '../support/admin-command.ts';
import { plans } from '../../shared/keys/plans.ts';
import { HostClock } from '../support/host-clock.ts';
import { ApiClient } from '../support/api-client.ts';
import { LocalHost } from '../support/local-host.ts';
import { expectNoSecrets } from '../support/secrets.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const BOLD = '\u001B[1m';
const DAY_MS = 86_400_000;
const dateOf = (epochMs: number): string => new Date(epochMs).toISOString().slice(0, 10);

let host: LocalHost;
let admin: AdminCommand;
let clock: HostClock;

beforeAll(async () => {
  host = await LocalHost.start();
  admin = new AdminCommand(host.origin);
  clock = new HostClock();
  const { free, pro } = host.host.keys;
  await Promise.all([request(free, 30), request(pro, 60)]);
});

afterAll(() => {
  clock.release();
  return host.close();
});

const request = (key: string, count: number): Promise<unknown> =>
  Promise.all(Array.from({ length: count }, () => ApiClient.withKey(host.baseUrl, key).list()));

describe('usage ID', () => {
  test('draws a bar for each day, today last', async () => {
    const now = Date.now();
    const lines = (await admin.output('usage', 'demo-free', '--days', '3')).split('\n');

    expect(lines).toEqual([
      'Demo Free, free: requests a day, of 1,000',
      '',
      `${dateOf(now - 2 * DAY_MS)} to ${dateOf(now - DAY_MS)}: none`,
      expect.stringMatching(new RegExp(`^${dateOf(now)} +█▎? +30 +3\\.0 %$`)),
      '',
    ]);
  });

  test('tells of 30 days unless it is told otherwise', async () => {
    const usage = await admin.json('usage', 'demo-pro');

    expect(usage).toMatchObject({ id: 'demo-pro', name: 'Demo Pro', plan: 'pro', perDay: 10_000 });
    expect(usage).toHaveProperty('days.length', 30);
    expect(usage).toHaveProperty('days.29', { date: dateOf(Date.now()), requests: 60 });
  });
});

describe('usage --top', () => {
  test('shows who is closest to their limits', async () => {
    const [head, ...rows] = (await admin.output('usage', '--top', '10')).trimEnd().split('\n');

    expect(head).toBe('id\tname\tplan\tthis minute\ttoday\tused');
    expect(rows).toEqual([
      'demo-free\tDemo Free\tfree\t30 / 60\t30 / 1,000\t50.0 %',
      'demo-pro\tDemo Pro\tpro\t60 / 300\t60 / 10,000\t20.0 %',
    ]);
    expect(await admin.json('usage', '--top', '1')).toMatchObject([{ id: 'demo-free' }]);
  });
});

test.each([
  ['without a key', ['usage'], 'Say whose usage: npm run admin -- usage ID, or npm run admin -- usage --top 10'],
  ['of the top for days', ['usage', '--top', '3', '--days', '3'], '--days goes with an id, not with --top.'],
  ['of more days than there are', ['usage', 'demo-free', '--days', '91'], 'must be a whole number from 1 to 90'],
])('usage %s says what to do in one line', async (_, words, message) => {
  expect(await admin.failure(...words)).toContain(message);
});

describe('--help', () => {
  const groups = ['', 'keys', 'plans', 'inventory', 'pets', 'orders'];
  const commands = [
    ...['create', 'list', 'show', 'move', 'rotate', 'suspend', 'resume', 'revoke', 'sync'].map((one) => `keys ${one}`),
    'usage',
    'plans list',
    'inventory import',
    'inventory export',
    'pets import',
    'orders import',
  ];
  const common = '--url <url>[^]+--stage <stage>[^]+--json';

  test.each([
    ...groups.map((words) => [words, ''] as const),
    ...commands.map((words) => [words, `[^]+${common}`] as const),
  ])('is there for "%s", without a host', async (words, options) => {
    const { exitCode, stdout, stderr } = await admin.run(...words.split(' ').filter(Boolean), '--help');

    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(stdout).toMatch(new RegExp(`^Usage: npm run admin -- ${words}${options}`));
  });
});

test('No key, nor what is stored in place of it, is in what the commands print or in the host’s logs', () => {
  const keys = Object.values(host.host.keys);

  expect(admin.transcript).toContain('demo-free');
  expectNoSecrets(admin.transcript, keys);
  expectNoSecrets(host.log, keys);
});

async function issued(): Promise<NewKey> {
  const target = await adminTarget(host);
  const key = await createKey(target, { name: 'acme', plan: 'free', limits: plans.free.limits });
  closeTarget(target);
  return key;
}

const statusOf = async ({ key }: NewKey): Promise<number> => (await ApiClient.withKey(host.baseUrl, key).list()).status;
const screenOf = async (line: string): Promise<string> => {
  const { exitCode, screen } = await new Terminal(`admin ${line} --url ${host.origin}`).ended();
  expect({ exitCode, screen }).toMatchObject({ exitCode: 0 });
  return screen;
};

const obstacle = terminalObstacle();
if (obstacle !== undefined) process.stderr.write(`The tests on a terminal are skipped: ${obstacle}.\n`);

(obstacle === undefined ? describe : describe.skip)('On a terminal', () => {
  const folder = temporaryFolder();

  test('tables have columns and colours; in a pipe they have tabs and none', async () => {
    const screen = await screenOf('plans list');
    const columns = stripVTControlCharacters(screen).trimEnd().split('\n');
    const piped = await admin.output('plans', 'list');

    expect(screen).toContain(BOLD);
    expect(screen).not.toContain('\t');
    // The right edges of the numbers stand below each other.
    expect(new Set(columns.map((line) => line.trimEnd().length)).size).toBe(1);
    expect(columns.map((line) => line.trim().split(/ {2,}/))).toEqual(
      piped
        .trimEnd()
        .split('\n')
        .map((line) => line.split('\t')),
    );
    expect(piped).not.toContain('\u001B');
  });

  describe('keys revoke asks', () => {
    test('and goes on after a yes, the result alone on standard output', async () => {
      const key = await issued();
      const file = join(folder, 'result.json');
      const terminal = new Terminal(`admin keys revoke ${key.id} --json --url ${host.origin} > ${file}`);
      await terminal.typeAt('(y/N)', 'y\r');
      const { exitCode, screen } = await terminal.ended();

      expect(stripVTControlCharacters(screen)).toContain(
        `Revoke acme (${key.id}, free) on ${host.origin}? Its requests are refused at once, for good.`,
      );
      expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ id: key.id, state: 'revoked' });
      expect({ exitCode, status: await statusOf(key) }).toEqual({ exitCode: 0, status: 401 });
    });

    test.each([
      ['no more than the Enter key', '\r'],
      ['Ctrl-C', '\u0003'],
    ])('and changes nothing after %s', async (_, keys) => {
      const key = await issued();
      const terminal = new Terminal(`admin keys revoke ${key.id} --url ${host.origin}`);
      await terminal.typeAt('(y/N)', keys);
      const { exitCode, screen } = await terminal.ended();

      expect(stripVTControlCharacters(screen).trimEnd()).toMatch(/Nothing was changed\.$/);
      expect({ exitCode, status: await statusOf(key) }).toEqual({ exitCode: 1, status: 200 });
    });
  });
});
