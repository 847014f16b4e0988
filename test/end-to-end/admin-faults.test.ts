import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { AdminCommand, type CreatedKey, run } from '../support/admin-command.ts';
import { ApiClient } from '../support/api-client.ts';
import { awsFault, FaultyLink } from '../support/faulty-engine.ts';
import { LocalHost } from '../support/local-host.ts';

let host: LocalHost;
let link: FaultyLink;
/** Calls the server by way of the link. */
let admin: AdminCommand;

beforeAll(async () => {
  host = await LocalHost.start();
});

afterAll(() => host?.close());

beforeEach(async () => {
  link = await FaultyLink.to(host.origin);
  admin = new AdminCommand(link.origin);
});

afterEach(() => link?.close());

const tooMany = awsFault(429, 'TooManyRequestsException', 'Too Many Requests');
const create = ['create', '--name', 'acme', '--plan', 'free'];
const statusOf = async (token: string): Promise<number> => (await ApiClient.withKey(host.baseUrl, token).list()).status;

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
  expect(await statusOf(token)).toBe(200);
});

test('The token of an interrupted rotation is invalid, and the next rotation replaces it', async () => {
  const { id, token } = await admin.newKey(...create);
  let writes = 0;
  link.faults = ({ action }) => (action === 'UpdateItem' && (writes += 1) > 1 ? { kind: 'gone' } : undefined);
  const { exitCode, stdout, stderr } = await admin.run('keys', 'rotate', id, '--json');
  const { token: notConfirmed }: CreatedKey = JSON.parse(stdout);

  expect({ exitCode, stderr }).toEqual({
    exitCode: 1,
    stderr: expect.stringMatching(/^Do not use the token shown above: .+\. No server responds at http:.+\n$/),
  });
  const { token: rotated } = await new AdminCommand(host.origin).newKey('rotate', id);
  expect([await statusOf(token), await statusOf(notConfirmed), await statusOf(rotated)]).toEqual([200, 401, 200]);
});

test.each([
  ['socket hang up', 'UpdateItem', { kind: 'hangUp' } as const],
  ["Unexpected token '<'", '', { kind: 'response', status: 200, body: '<html>\n<body>Log in' } as const],
])('One line reports a fault of the network or a proxy: %s', async (reason, failing, fault) => {
  link.faults = ({ action, path }) => (action === failing && path !== '/outputs.json' ? fault : undefined);
  const failure = await admin.failure('keys', ...create);

  expect(failure).toContain(`The call to AWS failed: ${reason}`);
  expect(failure).toContain(
    'It is safe to run the same command again: it creates another key. If this one exists, its token was never shown',
  );
});
