import { GetApiKeysCommand } from '@aws-sdk/client-api-gateway';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Command } from 'commander';
import { onService, outcome, withTargetOptions } from '../../../infra/admin/commands/options.ts';
import { findTarget, type Target } from '../../../infra/admin/service/target.ts';
import type { TargetOptions } from '../../../infra/admin/service/text.ts';
import { capture, closeTarget } from '../../support/admin-command.ts';
import { readLiveKey } from '../../../shared/key-registry/live-key.ts';
import { acceptForeignErrors } from '../../support/foreign-errors.ts';
import { machineSettings } from '../../support/machine-settings.ts';
import { FaultyLink } from '../../support/faulty-engine.ts';
import { freePort } from '../../support/listening.ts';
import { reply, ScriptedServer } from '../../shared/client/scripted-server.ts';

acceptForeignErrors();

const report = () => undefined;
const originOf = ({ baseUrl }: ScriptedServer): string => new URL(baseUrl).origin;

const LIMITS = '{"perMinute":7,"perDay":70}';
const outputs = [
  'ApiId',
  'ApiStage',
  'BaseUrl',
  'MaxEnterpriseLimits',
  ...['Keys', 'Stock', 'Pets', 'Orders', 'Requests', 'History', 'Usage', 'Changes'].map((table) => `${table}TableName`),
];

/** Targets whose clients are closed after each test. */
const found: Target[] = [];
afterEach(() => {
  found.splice(0).forEach(closeTarget);
});
async function find(options: TargetOptions): Promise<Target> {
  const target = await findTarget(options, report);
  found.push(target);
  return target;
}

describe('A local server', () => {
  test('that is not running, or has no valid address, is reported with what to do', async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    await expect(find({ url })).rejects.toThrow(
      `No server responds at ${url}. Start it with npm start, or pass its address with --url.`,
    );
    for (const invalid of ['ftp://localhost:3000', 'local host', ''])
      await expect(find({ url: invalid })).rejects.toThrow(`--url ${invalid} is not a valid address. Example:`);
  });

  test('that stops is reported immediately and in the same way by the next call', async () => {
    const texts = Object.fromEntries(outputs.map((name) => [name, LIMITS]));
    const link = await FaultyLink.to(originOf(await ScriptedServer.start(reply(200, texts))));
    const { origin } = link;
    const { gateway, apiStage, keyTable } = await find({ url: origin.replace('http://', '') });
    await link.close();

    for (const call of [() => keyTable.get('any'), () => readLiveKey(gateway, apiStage, 'any')])
      await expect(call()).rejects.toThrow(`No server responds at ${origin}. Start it with npm start,`);
  });

  test.each(Object.entries(machineSettings))('is reached on a machine with %s=%s', async (name, value) => {
    process.env[name] = value;
    try {
      const texts = Object.fromEntries(outputs.map((output) => [output, LIMITS]));
      const server = await ScriptedServer.start(reply(200, texts), reply(200, {}));
      const { gateway, keyTable } = await find({ url: originOf(server) });
      await Promise.all([keyTable.get('any'), gateway.send(new GetApiKeysCommand({}))]);

      const signed = expect.stringContaining('/us-east-1/');
      expect(server.requests.slice(1).map(({ headers }) => headers.authorization)).toEqual([signed, signed]);
    } finally {
      delete process.env[name];
    }
  });

  const denied = { __type: 'AccessDeniedException', message: 'No' };

  test.each([
    ['has another version', 200, { ApiId: 'api' }, 'is not a local server of this version'],
    ['refuses other machines', 403, denied, 'from this machine: No. Run the command'],
  ])('that %s is reported as such', async (_, status, body, message) => {
    const server = await ScriptedServer.start(reply(status, body));
    await expect(find({ url: originOf(server) })).rejects.toThrow(message);
  });
});

/** Finds the stage with a server in place of AWS, which returns these texts. @returns both */
async function findStage(status: number, ...texts: readonly string[]) {
  const server = await ScriptedServer.start(
    ...texts.map((text) => reply(status, text, { 'Content-Type': 'text/xml' })),
  );
  const credentials = { AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE', AWS_SECRET_ACCESS_KEY: 'secret' };
  Object.assign(process.env, credentials, { AWS_ENDPOINT_URL: originOf(server) });
  return { server, target: find({ stage: 'staging' }) };
}

/** The description of a stack with these outputs. */
function stackWith(names: readonly string[]): string {
  const members = names.map(
    (name) =>
      `<member><OutputKey>${name}</OutputKey><OutputValue>${name.startsWith('Max') ? LIMITS : `of-${name}`}</OutputValue></member>`,
  );
  const stack = `<member><StackName>staging-Inventory</StackName><Outputs>${members.join('')}</Outputs></member>`;
  const result = `<DescribeStacksResult><Stacks>${stack}</Stacks></DescribeStacksResult>`;
  return `<DescribeStacksResponse>${result}</DescribeStacksResponse>`;
}

describe('A stage on AWS', () => {
  const { env } = process;

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
    const { server, target } = await findStage(200, stackWith(outputs));

    expect(await target).toMatchObject({
      stage: 'staging',
      place: 'the stage staging',
      option: '--stage staging',
      baseUrl: 'of-BaseUrl',
      maxEnterpriseLimits: { perMinute: 7, perDay: 70 },
      apiStage: { apiId: 'of-ApiId', stage: 'of-ApiStage' },
      tables: { keys: 'of-KeysTableName', stock: 'of-StockTableName' },
    });
    expect(server.requests).toMatchObject([{ body: expect.stringContaining('StackName=staging-Inventory') }]);
  });

  test('is named with the result of each command, on standard error', async () => {
    await findStage(200, stackWith(outputs));
    const streams = [capture(process.stdout), capture(process.stderr)];
    const program = withTargetOptions(new Command());
    onService(program.command('touch'), async (target) => outcome(found.push(target), () => 'Touched.'));
    await program.parseAsync(['touch', '--stage', 'staging'], { from: 'user' });
    for (const { end } of streams) end();

    expect(streams.map(({ text }) => text())).toEqual(['Touched.\n', 'On the stage staging.\n']);
  });

  test('records changes with the ARN of the caller, which is looked up once', async () => {
    const caller = '<GetCallerIdentityResult><Arn>arn:aws:iam::1:user/ann</Arn></GetCallerIdentityResult>';
    const identity = `<GetCallerIdentityResponse>${caller}</GetCallerIdentityResponse>`;
    const { server, target } = await findStage(200, stackWith(outputs), identity, '{}');
    const { history } = await target;
    for (const revision of [1, 2]) await history.put({ recordId: 'any', revision, at: 0, what: [] });

    const [, ...calls] = server.requests.map(({ body }) => body);
    const written = expect.stringContaining('"who":{"S":"arn:aws:iam::1:user/ann"}');
    expect(calls).toEqual([expect.stringContaining('Action=GetCallerIdentity'), written, written]);
  });

  test('that the caller may not read is reported with what to check', async () => {
    const reason = 'User: eve is not authorized to perform: cloudformation:DescribeStacks';
    const error = `<Error><Type>Sender</Type><Code>AccessDenied</Code><Message>${reason}</Message></Error>`;
    const { server, target } = await findStage(403, `<ErrorResponse>${error}</ErrorResponse>`);

    await expect(target).rejects.toThrow(
      `Cannot reach the stage staging: ${reason}. Nothing was changed. Check the AWS credentials (profile default), AWS_REGION, ` +
        'and that the stack staging-Inventory is deployed there, or omit --stage. ' +
        `AWS_ENDPOINT_URL is set to ${originOf(server)}: unset it.`,
    );
  });

  test('of another version is reported as such', async () => {
    const { target } = await findStage(200, stackWith(['ApiId']));
    await expect(target).rejects.toThrow('The stage staging runs another version of the service than this command');
  });
});
