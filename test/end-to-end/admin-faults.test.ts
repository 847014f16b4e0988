import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { account } from '../../infra/local-endpoint.ts';
import { gatewayTags } from '../../shared/key-registry/gateway-tags.ts';
import { AdminCommand, admin as run, type CreatedKey, failureLine } from '../support/admin-command.ts';
import { ApiClient } from '../support/api-client.ts';
import { awsFault, FaultyLink, type Call, type Fault } from '../support/faulty-engine.ts';
import { freePort } from '../support/listening.ts';
import { LocalHost } from '../support/local-host.ts';

const AGAIN = 'It is safe to run the same command again: it takes up what was cut off.';

/** Nothing that would let the AWS SDK find credentials or a region. */
const stranger = {
  ...Object.fromEntries(
    Object.keys(process.env).flatMap((name) => (name.startsWith('AWS_') ? [[name, undefined]] : [])),
  ),
  AWS_CONFIG_FILE: '/dev/null',
  AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
  AWS_EC2_METADATA_DISABLED: 'true',
};

let host: LocalHost;
let link: FaultyLink;
let admin: AdminCommand;
let names = 0;

beforeAll(async () => {
  host = await LocalHost.start();
});

afterAll(() => host.close());

beforeEach(async () => {
  link = await FaultyLink.to(host.origin);
  admin = new AdminCommand(link.origin);
});

afterEach(() => link.close());

const newName = (): string => `customer-${(names += 1)}`;
const create = (name: string): string[] => ['keys', 'create', '--name', name, '--plan', 'free'];
const keysNamed = (name: string) => host.host.records.apiKeys.filter((key) => key.name === name);
const isComplete = ({ tags }: { readonly tags: object }): boolean => !(gatewayTags.unfinished in tags);
const isControlPlane = ({ action, path }: Call): boolean => action === '' && path !== '/outputs.json';
const onCalls =
  (action: string, fault: Fault) =>
  (call: Call): Fault | undefined =>
    call.action === action ? fault : undefined;

const noHost = (origin: string): string =>
  `No local host answers at ${origin}. Start one with npm start, name another with --url, or use --stage for AWS.`;

/** A shell with credentials, where AWS is at the other end of the link. */
const awsUser = () => ({
  ...stranger,
  AWS_ENDPOINT_URL: link.origin,
  AWS_REGION: account.region,
  AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE',
  AWS_SECRET_ACCESS_KEY: 'secret',
});
const isCloudFormation = ({ body }: Call): boolean => body.includes('Action=DescribeStacks');
const xml = (status: number, body: string): Fault => ({
  kind: 'answer',
  status,
  headers: { 'Content-Type': 'text/xml' },
  body,
});

async function expectOneGoodKey(name: string, { id, key }: CreatedKey): Promise<void> {
  expect(keysNamed(name).filter(isComplete)).toMatchObject([{ id, enabled: true }]);
  expect((await ApiClient.withKey(host.baseUrl, key).list()).status).toBe(200);
  expect(await new AdminCommand(host.origin).json('keys', 'sync')).toMatchObject({
    added: [],
    changed: [],
    disabled: [],
    removed: [],
    problems: [],
  });
}

test('A throttled control plane is waited for, and the command says so', async () => {
  let throttled = 0;
  link.faults = (call) =>
    call.method === 'POST' && call.path === '/apikeys' && (throttled += 1) === 1
      ? awsFault(429, 'TooManyRequestsException', 'Too Many Requests')
      : undefined;
  const name = newName();
  const { exitCode, stdout, stderr } = await run([...create(name), '--json', '--url', link.origin]);

  expect({ exitCode, stderr }).toEqual({
    exitCode: 0,
    stderr: 'API Gateway takes no more calls for the moment; waiting …\n',
  });
  await expectOneGoodKey(name, JSON.parse(stdout));
});

describe('A network that is cut in the middle', () => {
  test('is told of in one line, leaves no key that works, and the command can be run again', async () => {
    link.faults = onCalls('PutItem', { kind: 'gone' });
    const name = newName();

    expect(await admin.failure(...create(name))).toMatch(
      /^AWS could not be used: connect ECONNREFUSED .+takes up what/,
    );
    expect(keysNamed(name).map(isComplete)).toEqual([false]);
    await expectOneGoodKey(name, await new AdminCommand(host.origin).newKey(...create(name).slice(1)));
  });

  test('during a revocation leaves a key that is refused, and gone once the command has run again', async () => {
    const { id, key } = await admin.newKey(...create(newName()).slice(1));
    const isClosed = () => link.calls.some(({ action }) => action === 'UpdateItem');
    link.faults = ({ action }) => (action === 'Scan' && isClosed() ? { kind: 'gone' } : undefined);

    expect(await admin.failure('keys', 'revoke', id, '--yes')).toContain(AGAIN);
    expect((await ApiClient.withKey(host.baseUrl, key).list()).status).toBe(401);
    expect(await new AdminCommand(host.origin).output('keys', 'revoke', id, '--yes')).toContain('is revoked already');
    expect(await new AdminCommand(host.origin).failure('keys', 'show', id)).toContain('There is no key');
  });
});

describe('What AWS answers is told in one line', () => {
  test.each([
    [
      'no permission',
      isControlPlane,
      awsFault(403, 'AccessDeniedException', 'User: eve is not authorized to perform: apigateway:GET'),
      'AWS could not be used: User: eve is not authorized to perform: apigateway:GET (AccessDeniedException)',
    ],
    [
      'a web page',
      isControlPlane,
      { kind: 'answer', status: 200, body: '<html>\n<body>Log in first' } as const,
      /^AWS could not be used: Unexpected token '<'.* is not valid JSON \(SyntaxError\)$/,
    ],
  ])('%s', async (_, isHit, fault, line) => {
    link.faults = (call) => (isHit(call) ? fault : undefined);
    const [reason = '', again] = (await admin.failure(...create(newName()))).split(/\. (?=It is safe)/);

    expect(reason).toMatch(line);
    expect(again).toBe(AGAIN);
  });
});

describe('Without a service to work on, one line says what to do', () => {
  test('no host at the address', async () => {
    const origin = `http://127.0.0.1:${await freePort()}`;
    expect(await new AdminCommand(origin).failure('keys', 'list')).toBe(noHost(origin));
  });

  test('an address that is none', async () => {
    const url = 'ftp://localhost:3000';
    expect(await new AdminCommand(url).failure('plans', 'list')).toBe(
      `--url ${url} is no address. It must be one such as http://localhost:3000.`,
    );
  });
});

/** What CloudFormation says about a stack with these outputs. */
function stackWith(outputs: Readonly<Record<string, string>>) {
  const members = Object.entries(outputs).map(
    ([name, value]) => `<member><OutputKey>${name}</OutputKey><OutputValue>${value}</OutputValue></member>`,
  );
  return xml(
    200,
    '<DescribeStacksResponse><DescribeStacksResult><Stacks><member>' +
      `<StackName>staging-Inventory</StackName><Outputs>${members.join('')}</Outputs>` +
      '</member></Stacks></DescribeStacksResult></DescribeStacksResponse>',
  );
}

describe('--stage', () => {
  const hint =
    'Check the AWS credentials, AWS_REGION, and that the stack staging-Inventory is deployed there; or leave out --stage.';

  test('without credentials says in one line what to do', async () => {
    const env = { ...stranger, AWS_REGION: 'eu-west-1' };
    expect(failureLine(await run(['keys', 'list', '--stage', 'staging'], env))).toBe(
      `Cannot reach the stage staging: Could not load credentials from any providers. ${hint}`,
    );
  });

  describe('with credentials', () => {
    test('works on the stack of the stage', async () => {
      const answer = stackWith(host.host.outputs);
      link.faults = (call) => (isCloudFormation(call) ? answer : undefined);
      const words = ['keys', 'create', '--name', 'staged', '--plan', 'pro', '--stage', 'staging', '--json'];
      const { exitCode, stdout, stderr } = await run(words, awsUser());

      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
      expect(JSON.parse(stdout)).toMatchObject({
        name: 'staged',
        perMinute: 300,
        baseUrl: host.host.outputs['BaseUrl'],
      });
      expect(link.calls.find(isCloudFormation)?.body).toContain('StackName=staging-Inventory');
      expect(keysNamed('staged')).toHaveLength(1);
    });

    test('a stack of another version', async () => {
      const { StockTableName: _, ...outputs } = host.host.outputs;
      link.faults = () => stackWith(outputs);

      expect(failureLine(await run(['keys', 'list', '--stage', 'staging'], awsUser()))).toBe(
        'The stage staging runs another version of the service than this command belongs to: deploy this one, or check out that one.',
      );
    });

    test('without permission', async () => {
      const reason = 'User: eve is not authorized to perform: cloudformation:DescribeStacks';
      const error = `<Error><Type>Sender</Type><Code>AccessDenied</Code><Message>${reason}</Message></Error>`;
      link.faults = () => xml(403, `<ErrorResponse>${error}</ErrorResponse>`);

      const line = failureLine(await run(['keys', 'list', '--stage', 'staging'], awsUser()));
      const endpoint = `AWS_ENDPOINT_URL is set to ${link.origin}: unset it.`;
      expect(line).toBe(`Cannot reach the stage staging: ${reason}. ${hint} ${endpoint}`);
    });
  });
});
