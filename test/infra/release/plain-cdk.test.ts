import { createServer, type Server } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { stageNames } from '../../../infra/stages.ts';
import { type Outcome, run } from '../../support/admin-command.ts';
import { close, listen } from '../../support/listening.ts';
import { inventoryTemplate } from '../../support/service-template.ts';
import { synthesizedOnce } from '../../support/synthesize-once.ts';

// The CDK CLI takes two seconds to start, and many more on a machine that is busy.
jest.setTimeout(60_000);

const TABLE = 'TablesRequests3CA232D6';
/** What of production is deployed: its API, without that table. */
const { [TABLE]: missing, ...deployed } = inventoryTemplate('production').Resources;

let server: Server;
let origin: string;
/** Roles that the CLI has asked for. */
const assumed = new Set<string>();

/** The result of a call, without what the CLI does not read. */
function resultOf(call: URLSearchParams): string | undefined {
  const results: Record<string, string> = {
    GetCallerIdentity: '<Account>111122223333</Account><Arn>arn:aws:iam::111122223333:user/ann</Arn>',
    AssumeRole:
      '<Credentials><AccessKeyId>ASIA</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken></Credentials>',
    DescribeStacks: '<Stacks><member><StackStatus>UPDATE_COMPLETE</StackStatus></member></Stacks>',
    GetTemplate: `<TemplateBody><![CDATA[${JSON.stringify({ Resources: deployed })}]]></TemplateBody>`,
  };
  const stack = call.get('StackName');
  if (stack !== null && stack !== 'production-Inventory') return undefined;
  return results[call.get('Action') ?? ''];
}

beforeAll(async () => {
  server = createServer((request, response) => {
    void text(request).then((body) => {
      // Of the Systems Manager the CLI asks for the version of the bootstrap.
      if (body.startsWith('{')) return response.end('{"Parameter":{"Value":"30"}}');
      const call = new URLSearchParams(body);
      if (call.has('RoleArn')) assumed.add(call.get('RoleArn') ?? '');
      const [action, result] = [call.get('Action'), resultOf(call)];
      if (result !== undefined)
        return response.end(`<${action}Response><${action}Result>${result}</${action}Result></${action}Response>`);
      const reason = `<Code>ValidationError</Code><Message>Stack with id ${call.get('StackName')} does not exist</Message>`;
      return response.writeHead(400).end(`<ErrorResponse><Error>${reason}</Error></ErrorResponse>`);
    });
  });
  origin = `http://127.0.0.1:${await listen(server)}`;
});
afterAll(() => close(server));

/** The CDK CLI with what has been synthesized, and an account that has the standard bootstrap. */
const cdk = (...words: string[]): Promise<Outcome> =>
  run('node_modules/.bin/cdk', [...words, '--app', synthesizedOnce()], {
    AWS_ENDPOINT_URL: origin,
    AWS_REGION: 'eu-west-1',
    AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE',
    AWS_SECRET_ACCESS_KEY: 'secret',
    AWS_CONFIG_FILE: '/dev/null',
    AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
    AWS_PROFILE: undefined,
  });

test('cdk list shows exactly the stack of each stage', async () => {
  const { stdout } = await cdk('list');
  const stacks = stageNames.map((stage) => `${stage}/Inventory (${stage}-Inventory)`);

  expect(stdout.trim().split('\n').toSorted()).toEqual(stacks.toSorted());
});

test('cdk deploy without a pattern deploys nothing, and names the patterns', async () => {
  const { exitCode, stderr } = await cdk('deploy');

  expect(exitCode).toBe(1);
  expect(stderr).toContain("use a pattern that matches their full path, e.g. 'staging/*', 'production/*'");
});

test('cdk diff shows the changes of a stage, with only the lookup role of the bootstrap', async () => {
  const { exitCode, stdout, stderr } = await cdk('diff', '--method', 'template', 'production/*');

  expect(missing).toBeDefined();
  expect(exitCode).toBe(0);
  expect(stdout + stderr).toMatch(new RegExp(String.raw`\[\+\] AWS::DynamoDB::Table \S+ ${TABLE}`));
  expect(stdout + stderr).toContain('Number of stacks with differences: 1');
  expect([...assumed]).toEqual(['arn:aws:iam::111122223333:role/cdk-hnb659fds-lookup-role-111122223333-eu-west-1']);
});
