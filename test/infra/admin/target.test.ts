import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { findTarget } from '../../../infra/admin/service/target.ts';
import { readLiveKey } from '../../../shared/key-registry/live-key.ts';
import { acceptForeignErrors } from '../../support/foreign-errors.ts';
import { FaultyLink } from '../../support/faulty-engine.ts';
import { freePort } from '../../support/listening.ts';
import { reply, ScriptedServer } from '../../shared/client/scripted-server.ts';

acceptForeignErrors();

const notices = { throttled: () => undefined, unreadable: () => undefined, incomplete: () => undefined };
const originOf = ({ baseUrl }: ScriptedServer): string => new URL(baseUrl).origin;

const find = (url: string) => findTarget({ url }, notices);

describe('a local server', () => {
  test('that does not run is reported in one sentence with a remedy', async () => {
    const origin = `http://127.0.0.1:${await freePort()}`;
    await expect(find(origin)).rejects.toThrow(
      `No server responds at ${origin}. Start it with npm start, or pass its address with --url.`,
    );
    for (const url of ['ftp://localhost:3000', 'local host', ''])
      await expect(find(url)).rejects.toThrow(`--url ${url} is not a valid address. Example:`);
  });

  test('that stops fails the next call immediately with that sentence', async () => {
    const found = Object.fromEntries(outputs.map((name) => [name, 'any']));
    const link = await FaultyLink.to(originOf(await ScriptedServer.start(reply(200, found))));
    const { origin } = link;
    const { documents, gateway, gatewayOnce, apiStage, keyTable } = await find(origin.replace('http://', ''));
    await link.close();

    for (const call of [() => keyTable.get('any'), () => readLiveKey(gateway, apiStage, 'any')])
      await expect(call()).rejects.toThrow(`No server responds at ${origin}. Start it with npm start,`);
    for (const client of [documents, gateway, gatewayOnce]) client.destroy();
  });

  test.each([
    ['of another version', 200, { ApiId: 'api' }, 'is not a local server of this version'],
    [
      'that refuses strangers',
      403,
      { __type: 'AccessDeniedException', message: 'No' },
      'from this machine: No. Run the command',
    ],
  ])('%s is reported as such', async (_, status, body, message) => {
    const server = await ScriptedServer.start(reply(status, body));
    await expect(find(originOf(server))).rejects.toThrow(message);
  });
});

const outputs = [
  'ApiId',
  'ApiStage',
  'BaseUrl',
  ...['Keys', 'Stock', 'Pets', 'Orders', 'Requests', 'History', 'Usage'].map((table) => `${table}TableName`),
];

/** Finds the stage with a server in place of AWS. */
async function findStage(server: ScriptedServer) {
  const credentials = { AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE', AWS_SECRET_ACCESS_KEY: 'secret' };
  Object.assign(process.env, credentials, { AWS_ENDPOINT_URL: originOf(server) });
  return findTarget({ stage: 'staging' }, notices);
}

const xml = (status: number, text: string) => ScriptedServer.start(reply(status, text, { 'Content-Type': 'text/xml' }));

/** A server that returns a stack with these outputs, and then other texts. */
function stackWith(names: readonly string[], ...more: readonly string[]): Promise<ScriptedServer> {
  const members = names.map(
    (name) => `<member><OutputKey>${name}</OutputKey><OutputValue>of-${name}</OutputValue></member>`,
  );
  const stack = `<member><StackName>staging-Inventory</StackName><Outputs>${members.join('')}</Outputs></member>`;
  const result = `<DescribeStacksResult><Stacks>${stack}</Stacks></DescribeStacksResult>`;
  const texts = [`<DescribeStacksResponse>${result}</DescribeStacksResponse>`, ...more];
  return ScriptedServer.start(...texts.map((text) => reply(200, text, { 'Content-Type': 'text/xml' })));
}

describe('a stage on AWS', () => {
  const { env } = process;
  const hint =
    'Nothing was changed. Check the AWS credentials (profile default), AWS_REGION, and that the stack staging-Inventory is deployed there, or omit --stage.';

  beforeEach(() => {
    // Nothing that would let the AWS SDK find credentials or a region.
    const others = Object.entries(env).filter(([name]) => !name.startsWith('AWS_'));
    const files = { AWS_CONFIG_FILE: '/dev/null', AWS_SHARED_CREDENTIALS_FILE: '/dev/null' };
    const settings = { ...files, AWS_REGION: 'eu-west-1', AWS_EC2_METADATA_DISABLED: 'true' };
    process.env = { ...Object.fromEntries(others), ...settings };
  });

  afterEach(() => {
    process.env = env;
  });

  test('is found by the outputs of its stack', async () => {
    const server = await stackWith(outputs);
    const { documents, gateway, gatewayOnce, ...target } = await findStage(server);

    expect(target).toMatchObject({
      stage: 'staging',
      place: 'the stage staging',
      option: '--stage staging',
      baseUrl: 'of-BaseUrl',
      apiStage: { apiId: 'of-ApiId', stage: 'of-ApiStage' },
      tables: { keys: 'of-KeysTableName', stock: 'of-StockTableName' },
    });
    expect(server.requests).toMatchObject([{ body: expect.stringContaining('StackName=staging-Inventory') }]);
    for (const client of [documents, gateway, gatewayOnce]) client.destroy();
  });

  test('records the caller of AWS as the admin, asked once', async () => {
    const caller = '<GetCallerIdentityResult><Arn>arn:aws:iam::1:user/ann</Arn></GetCallerIdentityResult>';
    const identity = `<GetCallerIdentityResponse>${caller}</GetCallerIdentityResponse>`;
    const server = await stackWith(outputs, identity, '{}');
    const { documents, gateway, gatewayOnce, history } = await findStage(server);
    for (const revision of [1, 2]) await history.put({ recordId: 'any', revision, at: 0, what: [] });

    const [, ...calls] = server.requests.map(({ body }) => body);
    const written = expect.stringContaining('"who":{"S":"arn:aws:iam::1:user/ann"}');
    expect(calls).toEqual([expect.stringContaining('Action=GetCallerIdentity'), written, written]);
    for (const client of [documents, gateway, gatewayOnce]) client.destroy();
  });

  test('is reported as unreachable without permission, with the address in use', async () => {
    const reason = 'User: eve is not authorized to perform: cloudformation:DescribeStacks';
    const error = `<Error><Type>Sender</Type><Code>AccessDenied</Code><Message>${reason}</Message></Error>`;
    const server = await xml(403, `<ErrorResponse>${error}</ErrorResponse>`);

    await expect(findStage(server)).rejects.toThrow(
      `Cannot reach the stage staging: ${reason}. ${hint} AWS_ENDPOINT_URL is set to ${originOf(server)}: unset it.`,
    );
  });

  test('may run another version of the service', async () => {
    await expect(findStage(await stackWith(['ApiId']))).rejects.toThrow(
      'The stage staging runs another version of the service than this command',
    );
  });
});
