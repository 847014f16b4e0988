import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { AdminCommand, admin as run } from '../support/admin-command.ts';
import { adminTarget, closeTarget } from '../support/admin-target.ts';
import { ApiClient } from '../support/api-client.ts';
import { LocalHost } from '../support/local-host.ts';
import { roomyMinute } from '../support/roomy-minute.ts';
import { expectNoSecrets } from '../support/secrets.ts';

const DAY_MS = 86_400_000;
const dateOf = (epochMs: number): string => new Date(epochMs).toISOString().slice(0, 10);

let host: LocalHost;
let admin: AdminCommand;

beforeAll(async () => {
  host = await LocalHost.start();
  admin = new AdminCommand(host.origin);
  await roomyMinute(10);
  const { free, pro } = host.host.keys;
  await Promise.all([request(free, 30), request(pro, 60)]);
});

afterAll(() => host.close());

const request = (key: string, count: number): Promise<unknown> =>
  Promise.all(Array.from({ length: count }, () => ApiClient.withKey(host.baseUrl, key).list()));

describe('usage ID', () => {
  test('draws a bar for each day, today last', async () => {
    const now = Date.now();
    const lines = (await admin.output('usage', 'demo-free', '--days', '3')).split('\n');

    expect(lines).toEqual([
      'Demo Free, free: requests a day, of 1,000',
      '',
      expect.stringMatching(new RegExp(`^${dateOf(now - 2 * DAY_MS)} +0 +0\\.0 %$`)),
      expect.stringMatching(new RegExp(`^${dateOf(now - DAY_MS)} +0 +0\\.0 %$`)),
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
  ['of a key and of the top', ['usage', 'demo-free', '--top', '3'], 'Say whose usage'],
  ['of the top for days', ['usage', '--top', '3', '--days', '3'], '--days goes with an id, not with --top.'],
  ['of more days than there are', ['usage', 'demo-free', '--days', '91'], 'must be a whole number from 1 to 90'],
])('usage %s says what to do in one line', async (_, words, message) => {
  expect(await admin.failure(...words)).toContain(message);
});

describe('keys sync', () => {
  test('says what it took over, and then that there is nothing left', async () => {
    const target = await adminTarget(host);
    for await (const page of target.keyTable.pages()) {
      const record = page.find(({ keyId }) => keyId === 'demo-business');
      if (record) await target.keyTable.revise(record, { plan: 'pro', perMinute: 300 });
    }
    closeTarget(target);

    expect(await admin.json('keys', 'sync')).toMatchObject({
      added: [],
      changed: ['demo-business'],
      disabled: [],
      removed: [],
      conflicts: [],
      problems: [],
    });
    expect(await admin.output('keys', 'sync')).toBe(
      'Keys: 0 added, 0 changed, 0 disabled, 0 removed, 0 changed meanwhile, 4 unchanged.\n',
    );
  });
});

const helpOf = (text: string) => run([...text.split(' ').filter((word) => word !== ''), '--help']);

describe('--help', () => {
  const groups = ['', 'keys', 'plans', 'inventory'];
  const commands = [
    ...['create', 'list', 'show', 'move', 'rotate', 'suspend', 'resume', 'revoke', 'sync'].map((one) => `keys ${one}`),
    'usage',
    'plans list',
    'inventory import',
    'inventory export',
  ];

  test('is there for every command, without a host', async () => {
    const all = [...groups, ...commands];
    const outcomes = await Promise.all(all.map(helpOf));

    expect(outcomes).toEqual(
      all.map((text) => ({
        exitCode: 0,
        stdout: expect.stringMatching(new RegExp(`^Usage: npm run admin -- ${text}`)),
        stderr: '',
      })),
    );
    for (const { stdout } of outcomes.slice(groups.length)) {
      expect(stdout).toMatch(/--url <url>[^]+--stage <stage>[^]+--json/);
    }
  });

  test.each([[], ['keys']])('is what a command says that is not complete: %s', async (...words) => {
    const { exitCode, stdout, stderr } = await run(words);

    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
    expect(stderr).toMatch(/^Usage: npm run admin -- .*\[command\]/);
  });
});

test('No key, nor what is stored in place of it, is in what the commands print or in the host’s logs', () => {
  const keys = Object.values(host.host.keys);

  expect(admin.transcript).toContain('demo-free');
  expectNoSecrets(admin.transcript, keys);
  expectNoSecrets(host.log, keys);
});
