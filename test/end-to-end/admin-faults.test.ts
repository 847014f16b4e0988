import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { AdminCommand, type CreatedKey, run } from '../support/admin-command.ts';
import { ApiClient } from '../support/api-client.ts';
import { awsFault, FaultyLink } from '../support/faulty-engine.ts';
import { HostClock } from '../support/host-clock.ts';
import { LocalHost } from '../support/local-host.ts';

let host: LocalHost;
let clock: HostClock;
let link: FaultyLink;
/** By way of the link, and straight. */
let admin: AdminCommand;
let straight: AdminCommand;

beforeAll(async () => {
  host = await LocalHost.start();
  clock = new HostClock();
});

afterAll(() => {
  clock.release();
  return host.close();
});

beforeEach(async () => {
  link = await FaultyLink.to(host.origin);
  admin = new AdminCommand(link.origin);
  straight = new AdminCommand(host.origin);
});

afterEach(() => link?.close());

const tooMany = awsFault(429, 'TooManyRequestsException', 'Too Many Requests');
const create = ['create', '--name', 'acme', '--plan', 'free'];
const statusOf = async (key: string): Promise<number> => (await ApiClient.withKey(host.baseUrl, key).list()).status;

test('create waits while throttled; the key works without API Gateway until a sync adds it', async () => {
  let throttled = 0;
  link.faults = ({ method, path }) => {
    const isFirst = method === 'GET' && path.startsWith('/usageplans') && (throttled += 1) === 1;
    return isFirst || (method === 'POST' && path === '/apikeys') ? tooMany : undefined;
  };
  // A process of its own: the clock of this one stands still, and the SDK waits by it.
  const words = ['infra/admin/main.ts', 'keys', ...create, '--json', '--url', link.origin];
  const { exitCode, stdout, stderr } = await run(process.execPath, words);
  const { id, key, applied }: CreatedKey = JSON.parse(stdout);

  expect({ exitCode, applied }).toEqual({ exitCode: 0, applied: false });
  expect(stderr.split('\n')).toEqual([
    'API Gateway throttles the calls; waiting …',
    expect.stringMatching(/^The change is in effect, .* \(Too Many Requests\)\. /),
    '',
  ]);
  expect(await statusOf(key)).toBe(200);
  clock.moveTo(clock.now + 60_000);
  expect(await straight.output('keys', 'sync')).toMatch(/^Keys: .* 1 applied, /);
  expect(host.host.records.apiKeys).toContainEqual(expect.objectContaining({ value: id, name: 'acme' }));
  expect(await statusOf(key)).toBe(200);
});

test('a token of an interrupted rotate is invalid, and the next rotation replaces it', async () => {
  const { id, key } = await admin.newKey(...create);
  let writes = 0;
  link.faults = ({ action }) => (action === 'UpdateItem' && (writes += 1) > 1 ? { kind: 'gone' } : undefined);
  const { exitCode, stdout, stderr } = await admin.run('keys', 'rotate', id, '--json');
  const { key: notConfirmed }: CreatedKey = JSON.parse(stdout);

  expect({ exitCode, stderr }).toEqual({
    exitCode: 1,
    stderr: expect.stringMatching(/^Do not use the token shown above: .+\. No server responds at http:.+\n$/),
  });
  const { key: rotated } = await straight.newKey('rotate', id);
  expect([await statusOf(key), await statusOf(notConfirmed), await statusOf(rotated)]).toEqual([200, 401, 200]);
});

test.each([
  ['socket hang up', 'UpdateItem', { kind: 'hangUp' } as const],
  ["Unexpected token '<'", '', { kind: 'response', status: 200, body: '<html>\n<body>Log in' } as const],
])('a fault of the network or a proxy is reported in one line: %s', async (reason, failing, fault) => {
  link.faults = ({ action, path }) => (action === failing && path !== '/outputs.json' ? fault : undefined);
  const failure = await admin.failure('keys', ...create);

  expect(failure).toContain(`The call to AWS failed: ${reason}`);
  expect(failure).toContain(
    'It is safe to run the same command again: it creates another key. If this one exists, its token was never shown',
  );
});
