import { CreateApiKeyCommand, CreateUsagePlanKeyCommand } from '@aws-sdk/client-api-gateway';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { account } from '../../infra/local-endpoint.ts';
import { gatewayTags } from '../../shared/key-registry/gateway-tags.ts';
import { AdminCommand, adminTarget, closeTarget, type CreatedKey, run } from '../support/admin-command.ts';
import { ApiClient } from '../support/api-client.ts';
import { awsFault, FaultyLink } from '../support/faulty-engine.ts';
import { LocalHost } from '../support/local-host.ts';

const AGAIN = 'It is safe to run the same command again: it takes up what was cut off.';

let host: LocalHost;
let link: FaultyLink;
/** By way of the link, and straight. */
let admin: AdminCommand;
let straight: AdminCommand;
let customer: string;
let names = 0;

beforeAll(async () => {
  host = await LocalHost.start();
});

afterAll(() => host.close());

beforeEach(async () => {
  link = await FaultyLink.to(host.origin);
  admin = new AdminCommand(link.origin);
  straight = new AdminCommand(host.origin);
  customer = `customer-${(names += 1)}`;
});

afterEach(() => link.close());

const create = (): string[] => ['create', '--name', customer, '--plan', 'free'];
const keys = () => host.host.records.apiKeys.filter((key) => key.name === customer);
const isComplete = ({ tags }: { readonly tags: object }): boolean => !(gatewayTags.unfinished in tags);
const statusOf = async (key: string): Promise<number> => (await ApiClient.withKey(host.baseUrl, key).list()).status;

async function expectOneGoodKey({ id, key }: CreatedKey): Promise<void> {
  expect(keys().filter(isComplete)).toMatchObject([{ id, enabled: true }]);
  expect(await statusOf(key)).toBe(200);
  const nothing = { added: [], changed: [], disabled: [], removed: [], problems: [] };
  expect(await straight.json('keys', 'sync')).toMatchObject(nothing);
}

test('A throttled control plane is waited for, and the command says so', async () => {
  let throttled = 0;
  link.faults = ({ method, path }) =>
    method === 'POST' && path === '/apikeys' && (throttled += 1) === 1
      ? awsFault(429, 'TooManyRequestsException', 'Too Many Requests')
      : undefined;
  // A process of its own, since in this one the pace is off.
  const words = ['infra/admin/main.ts', 'keys', ...create(), '--json', '--url', link.origin];
  const { exitCode, stdout, stderr } = await run(process.execPath, words);

  expect({ exitCode, stderr }).toEqual({
    exitCode: 0,
    stderr: 'API Gateway takes no more calls for the moment; waiting …\n',
  });
  await expectOneGoodKey(JSON.parse(stdout));
});

describe('A network that is cut in the middle', () => {
  test('is told of in one line, leaves no key that works, and the command can be run again', async () => {
    link.faults = ({ action }) => (action === 'PutItem' ? { kind: 'gone' } : undefined);

    expect(await admin.failure('keys', ...create())).toMatch(
      /^AWS could not be used: connect ECONNREFUSED .+takes up what/,
    );
    expect(keys().map(isComplete)).toEqual([false]);
    await expectOneGoodKey(await straight.newKey(...create()));
  });

  test('after a token was shown says that it is not to be used, and the next rotation replaces it', async () => {
    const { id, key } = await admin.newKey(...create());
    let writes = 0;
    link.faults = ({ action }) => (action === 'UpdateItem' && (writes += 1) > 1 ? { kind: 'gone' } : undefined);
    const { exitCode, stdout, stderr } = await admin.run('keys', 'rotate', id, '--json');
    const { key: notConfirmed }: CreatedKey = JSON.parse(stdout);

    expect({ exitCode, stderr }).toEqual({
      exitCode: 1,
      stderr: expect.stringMatching(/^Do not use the key that was just shown: .+\. AWS could not be used: .+\n$/),
    });
    const { key: rotated } = await straight.newKey('rotate', id);
    expect([await statusOf(key), await statusOf(notConfirmed), await statusOf(rotated)]).toEqual([200, 401, 200]);
  });

  test('during a revocation leaves a key that is refused, and gone once the command has run again', async () => {
    const { id, key } = await admin.newKey(...create());
    const isClosed = () => link.calls.some(({ action }) => action === 'UpdateItem');
    link.faults = ({ method, path }) =>
      method === 'DELETE' && path.startsWith('/apikeys') && isClosed() ? { kind: 'gone' } : undefined;

    expect(await admin.failure('keys', 'revoke', id, '--yes')).toContain(AGAIN);
    expect(await statusOf(key)).toBe(401);
    expect(await straight.output('keys', 'revoke', id, '--yes')).toContain('is revoked already');
    expect(await straight.failure('keys', 'show', id)).toContain('There is no key');
  });
});

test.each([
  [
    awsFault(403, 'AccessDeniedException', 'User: eve is not authorized to perform: apigateway:GET'),
    /^AWS could not be used: User: eve is not authorized to perform: apigateway:GET \(AccessDeniedException\)\. The AWS credentials lack this permission/,
  ],
  [
    { kind: 'answer', status: 200, body: '<html>\n<body>Log in first' } as const,
    /^AWS could not be used: Unexpected token '<'.* is not valid JSON \(SyntaxError\)\. /,
  ],
])('What AWS answers is told in one line: %j', async (fault, line) => {
  link.faults = ({ action, path }) => (action === '' && path !== '/outputs.json' ? fault : undefined);
  const failure = await admin.failure('keys', ...create());

  expect(failure).toMatch(line);
  expect(failure).toContain(AGAIN);
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

test('A name that was given in the AWS console does nothing to a terminal', async () => {
  const name = 'Acme\u001b[2J\u009b31m\t\nPets\u202e';
  const shown = String.raw`Acme\u001b[2J\u009b31m\u0009\u000aPets\u202e`;
  const target = await adminTarget(host);
  const { gateway } = target;
  const { id = '' } = await gateway.send(
    new CreateApiKeyCommand({ name, value: 'a-value-of-twenty-characters', enabled: true }),
  );
  const usagePlanId = host.host.records.plansOfKey('demo-free')[0]?.id;
  await gateway.send(new CreateUsagePlanKeyCommand({ usagePlanId, keyId: id, keyType: 'API_KEY' }));
  closeTarget(target);
  await straight.output('keys', 'sync');

  expect(await straight.output('keys', 'list')).toContain(`${id}\t${shown}\tfree\t`);
  expect(await straight.failure('keys', 'revoke', id)).toContain(`Revoking ${shown} (${id})`);
  expect(await straight.output('keys', 'show', id, '--json')).toContain(String.raw`\u009b`);
  expect(await straight.json('keys', 'show', id)).toMatchObject({ name });
  expect(await straight.output('keys', 'suspend', id)).toContain(`${shown} is suspended until`);
  expect(await straight.output('keys', 'revoke', id, '--yes')).toBe(`${shown} (${id}) is revoked.\n`);
});
