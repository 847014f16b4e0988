import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { account } from '../../infra/local-endpoint.ts';
import { AdminCommand, type CreatedKey, run } from '../support/admin-command.ts';
import { ApiClient } from '../support/api-client.ts';
import { awsFault, FaultyLink } from '../support/faulty-engine.ts';
import { anApiKey } from '../support/gateway-records.ts';
import { HostClock } from '../support/host-clock.ts';
import { LocalHost } from '../support/local-host.ts';

let host: LocalHost;
let clock: HostClock;
let link: FaultyLink;
/** By way of the link, and straight. */
let admin: AdminCommand;
let straight: AdminCommand;
let customer: string;
let names = 0;

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
  customer = `customer-${(names += 1)}`;
});

afterEach(() => link.close());

const tooMany = awsFault(429, 'TooManyRequestsException', 'Too Many Requests');
const create = (): string[] => ['create', '--name', customer, '--plan', 'free'];
const keys = () => host.host.records.apiKeys.filter((key) => key.name === customer);
const statusOf = async (key: string): Promise<number> => (await ApiClient.withKey(host.baseUrl, key).list()).status;

test('A throttled control plane is waited for while it is read, and the command says so', async () => {
  let throttled = 0;
  link.faults = ({ method, path }) =>
    method === 'GET' && path.startsWith('/usageplans') && (throttled += 1) === 1 ? tooMany : undefined;
  // A process of its own, since in this one the pace is off.
  const words = ['infra/admin/main.ts', 'keys', ...create(), '--json', '--url', link.origin];
  const { exitCode, stdout, stderr } = await run(process.execPath, words);

  expect({ exitCode, stderr }).toEqual({
    exitCode: 0,
    stderr: 'API Gateway takes no more calls for the moment; waiting …\n',
  });
  const { key }: CreatedKey = JSON.parse(stdout);
  expect(await statusOf(key)).toBe(200);
});

test('A key that API Gateway does not make is shown, and works; the command says that a sync does the rest, which it does', async () => {
  link.faults = ({ method, path }) => (method === 'POST' && path === '/apikeys' ? tooMany : undefined);
  const { exitCode, stdout, stderr } = await admin.run('keys', ...create(), '--json');
  const { id, key, applied }: CreatedKey = JSON.parse(stdout);

  expect({ exitCode, applied, keys: keys() }).toEqual({ exitCode: 0, applied: false, keys: [] });
  expect(stderr).toMatch(
    /^(?:.*waiting …\n)?It is done, but API Gateway does not have .* \(Too Many Requests\)\. .*\n$/,
  );
  expect(await statusOf(key)).toBe(200);
  clock.moveTo(clock.now + 60_000);
  expect(await straight.output('keys', 'sync')).toMatch(/^Keys: .* 1 applied, /);
  expect(keys()).toMatchObject([{ value: id }]);
  expect(await straight.json('keys', 'show', id)).toMatchObject({ id: keys()[0]?.id, tokens: [{ neverShown: false }] });
  expect(await statusOf(key)).toBe(200);
});

test('A network that is cut after a token was shown: it is not to be used, and the next rotation replaces it', async () => {
  const { id, key } = await admin.newKey(...create());
  let writes = 0;
  link.faults = ({ action }) => (action === 'UpdateItem' && (writes += 1) > 1 ? { kind: 'gone' } : undefined);
  const { exitCode, stdout, stderr } = await admin.run('keys', 'rotate', id, '--json');
  const { key: notConfirmed }: CreatedKey = JSON.parse(stdout);

  expect({ exitCode, stderr }).toEqual({
    exitCode: 1,
    stderr: expect.stringMatching(/^Do not use the key that was just shown: .+\. Nothing answers at http:.+\n$/),
  });
  const { key: rotated } = await straight.newKey('rotate', id);
  expect([await statusOf(key), await statusOf(notConfirmed), await statusOf(rotated)]).toEqual([200, 401, 200]);
});

test.each([
  ['socket hang up', 'PutItem', { kind: 'hangUp' } as const],
  ["Unexpected token '<'", '', { kind: 'answer', status: 200, body: '<html>\n<body>Log in' } as const],
])('A fault of the network or a proxy is reported in one line: %s', async (reason, failing, fault) => {
  link.faults = ({ action, path }) => (action === failing && path !== '/outputs.json' ? fault : undefined);
  const failure = await admin.failure('keys', ...create());

  expect(failure).toContain(`AWS could not be used: ${reason}`);
  expect(failure).toContain(
    'It is safe to run the same command again: it makes another key; this one, if it is there, was never shown',
  );
});

test('--stage works on the stack of the stage', async () => {
  const members = Object.entries(host.host.outputs).map(
    ([key, value]) => `<member><OutputKey>${key}</OutputKey><OutputValue>${value}</OutputValue></member>`,
  );
  const stack = `<member><StackName>staging-Inventory</StackName><Outputs>${members.join('')}</Outputs></member>`;
  const body = `<DescribeStacksResponse><DescribeStacksResult><Stacks>${stack}</Stacks></DescribeStacksResult></DescribeStacksResponse>`;
  link.faults = (call) =>
    /^Action=DescribeStacks.*StackName=staging-Inventory/.test(call.body)
      ? { kind: 'answer', status: 200, headers: { 'Content-Type': 'text/xml' }, body }
      : undefined;
  const { env } = process;
  const credentials = { AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE', AWS_SECRET_ACCESS_KEY: 'secret' };
  process.env = { ...env, ...credentials, AWS_ENDPOINT_URL: link.origin, AWS_REGION: account.region };
  try {
    const baseUrl = host.host.outputs['BaseUrl'];
    expect(await admin.newKey(...create(), '--stage', 'staging')).toMatchObject({ name: customer, baseUrl });
  } finally {
    process.env = env;
  }
  expect(keys()).toHaveLength(1);
});

test('A name that was given in the AWS console does nothing to a terminal, and is shown as it is', async () => {
  const name = 'Acme\u001b[2J\u009b31m\t\nPets\u202e npm run admin -- x';
  const customerShown = String.raw`Acme\u001b[2J\u009b31m\u0009\u000aPets\u202e`;
  const shown = `${customerShown} npm run admin -- x`;
  const { records } = host.host;
  const apiKey = anApiKey({ id: 'by-hand', name, value: 'a-value-of-twenty-characters' });
  records.putApiKey(apiKey);
  records.putOnPlan(records.plansOfKey('demo-free')[0]?.id ?? '', apiKey.id);
  await straight.output('keys', 'sync');

  expect(await straight.output('keys', 'list')).toContain(`by-hand\t${shown}\tfree\t`);
  expect(await straight.failure('keys', 'revoke', 'by-hand')).toContain(`Revoke ${customerShown}`);
  expect(await straight.output('keys', 'show', 'by-hand', '--json')).toContain(String.raw`\u009b`);
  expect(await straight.json('keys', 'show', 'by-hand')).toMatchObject({ name });
  expect(await straight.output('keys', 'suspend', 'by-hand')).toContain(`${shown} is suspended until`);
  expect(await straight.output('keys', 'resume', 'by-hand')).toBe(`${shown} is active.\n`);
  expect(await straight.output('keys', 'move', 'by-hand', '--plan', 'pro')).toContain(`${shown} is on Pro now`);
  expect(await straight.output('keys', 'revoke', 'by-hand', '--yes')).toBe(`${shown} (by-hand) is revoked.\n`);
});
