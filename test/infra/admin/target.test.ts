import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { findTarget } from '../../../infra/admin/target.ts';
import { readLiveKey } from '../../../shared/key-registry/live-key.ts';
import { acceptForeignErrors } from '../../support/foreign-errors.ts';
import { FaultyLink } from '../../support/faulty-engine.ts';
import { freePort } from '../../support/listening.ts';
import { answer, ScriptedServer } from '../../shared/client/scripted-server.ts';

acceptForeignErrors();

const notices = { throttled: () => undefined, unreadable: () => undefined, incomplete: () => undefined };
const originOf = ({ baseUrl }: ScriptedServer): string => new URL(baseUrl).origin;

const find = (url: string) => findTarget({ url }, notices);

describe('A local host', () => {
  test('that is not there: one sentence says what to do', async () => {
    const origin = `http://127.0.0.1:${await freePort()}`;
    await expect(find(origin)).rejects.toThrow(
      `Nothing answers at ${origin}. Start it with npm start, or name another with --url.`,
    );
    for (const url of ['ftp://localhost:3000', 'local host', ''])
      await expect(find(url)).rejects.toThrow(`--url ${url} is no address. It must be one such as`);
  });

  test('that stops: the next call ends at once, with the same sentence', async () => {
    const names = [
      'ApiId',
      'ApiStage',
      'BaseUrl',
      'KeysTableName',
      'StockTableName',
      'PetsTableName',
      'OrdersTableName',
      'RequestsTableName',
    ];
    const outputs = Object.fromEntries(names.map((name) => [name, 'any']));
    const link = await FaultyLink.to(originOf(await ScriptedServer.start(answer(200, outputs))));
    const { origin } = link;
    const { documents, gateway, gatewayOnce, apiStage, keyTable } = await find(origin.replace('http://', ''));
    await link.close();

    for (const call of [() => keyTable.get('any'), () => readLiveKey(gateway, apiStage, 'any')])
      await expect(call()).rejects.toThrow(`Nothing answers at ${origin}. Start it with npm start,`);
    for (const client of [documents, gateway, gatewayOnce]) client.destroy();
  });

  test.each([
    ['of another version', 200, { ApiId: 'api' }, 'is no local host of this version'],
    [
      'that refuses strangers',
      403,
      { __type: 'AccessDeniedException', message: 'No' },
      'from here: No. Run the command',
    ],
  ])('%s is told apart', async (_, status, body, message) => {
    const server = await ScriptedServer.start(answer(status, body));
    await expect(find(originOf(server))).rejects.toThrow(message);
  });
});

/** Why the stage cannot be used where a server answers in place of AWS, with the address of the server. */
async function failureWith(status: number, xml: string): Promise<[reason: string, origin: string]> {
  const server = await ScriptedServer.start(answer(status, xml, { 'Content-Type': 'text/xml' }));
  const credentials = { AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE', AWS_SECRET_ACCESS_KEY: 'secret' };
  Object.assign(process.env, credentials, { AWS_ENDPOINT_URL: originOf(server) });
  return [await findTarget({ stage: 'staging' }, notices).then(() => 'none', String), originOf(server)];
}

describe('A stage on AWS', () => {
  const { env } = process;
  const hint =
    'Check the AWS credentials, AWS_REGION, and that the stack staging-Inventory is deployed there; or leave out --stage.';

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

  test('cannot be reached without permission, or where AWS is somewhere else', async () => {
    const reason = 'User: eve is not authorized to perform: cloudformation:DescribeStacks';
    const error = `<Error><Type>Sender</Type><Code>AccessDenied</Code><Message>${reason}</Message></Error>`;
    const [failure, origin] = await failureWith(403, `<ErrorResponse>${error}</ErrorResponse>`);

    expect(failure).toContain(
      `Cannot reach the stage staging: ${reason}. ${hint} AWS_ENDPOINT_URL is set to ${origin}: unset it.`,
    );
  });

  test('may run another version', async () => {
    const output = '<member><OutputKey>ApiId</OutputKey><OutputValue>api</OutputValue></member>';
    const stack = `<member><StackName>staging-Inventory</StackName><Outputs>${output}</Outputs></member>`;
    const result = `<DescribeStacksResult><Stacks>${stack}</Stacks></DescribeStacksResult>`;
    const [failure] = await failureWith(200, `<DescribeStacksResponse>${result}</DescribeStacksResponse>`);

    expect(failure).toContain('The stage staging runs another version of the service than this command');
  });
});
