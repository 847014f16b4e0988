import { stripVTControlCharacters } from 'node:util';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { AdminCommand, Terminal, terminalObstacle } from '../support/admin-command.ts';
import { ApiClient } from '../support/api-client.ts';
import { HostClock } from '../support/host-clock.ts';
import { LocalHost } from '../support/local-host.ts';
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
  const { free, pro } = host.host.keys;
  await Promise.all([request(free, 30), request(pro, 60)]);
});

afterAll(() => {
  clock.release();
  return host.close();
});

const list = (key: string) => ApiClient.withKey(host.baseUrl, key).list();
const request = (key: string, count: number): Promise<unknown> =>
  Promise.all(Array.from({ length: count }, () => list(key)));

describe('usage ID', () => {
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

test.each([
  ['without a key', ['usage'], 'Say whose usage: npm run admin -- usage ID, or npm run admin -- usage --top 10'],
  ['of the top for days', ['usage', '--top', '3', '--days', '3'], '--days goes with an id, not with --top.'],
  ['of more days than there are', ['usage', 'demo-free', '--days', '91'], 'must be a whole number from 1 to 90'],
])('usage %s says what to do in one line', async (_, words, message) => {
  expect(await admin.failure(...words)).toContain(message);
});

test('--help is there for every command, without a host', async () => {
  const onKeys = ['create', 'list', 'show', 'move', 'rotate', 'suspend', 'resume', 'revoke', 'sync'];
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
