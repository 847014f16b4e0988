import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { findTarget } from '../../../infra/admin/target.ts';
import { acceptForeignErrors } from '../../support/foreign-errors.ts';
import { freePort } from '../../support/listening.ts';
import { answer, ScriptedServer } from '../../support/scripted-server.ts';

acceptForeignErrors();

const notices = { throttled: () => undefined, unreadable: () => undefined, incomplete: () => undefined };
const originOf = ({ baseUrl }: ScriptedServer): string => new URL(baseUrl).origin;

const find = (url: string) => findTarget({ url }, notices);

describe('A local host', () => {
  test('that is not there: one sentence says what to do', async () => {
    const origin = `http://127.0.0.1:${await freePort()}`;
    await expect(find(origin)).rejects.toThrow(
      `No local host answers at ${origin}. Start one with npm start, name another with --url, or use --stage for AWS.`,
    );
    for (const url of ['ftp://localhost:3000', 'localhost'])
      await expect(find(url)).rejects.toThrow(`--url ${url} is no address. It must be one such as`);
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
    const origin = originOf(await ScriptedServer.start(answer(status, body)));
    await expect(find(origin)).rejects.toThrow(message);
  });
});

const findStage = () => findTarget({ url: '', stage: 'staging' }, notices);

/** Has something else answer in place of AWS. @returns its address */
async function awsAnswers(status: number, xml: string): Promise<string> {
  const server = await ScriptedServer.start(answer(status, xml, { 'Content-Type': 'text/xml' }));
  const credentials = { AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE', AWS_SECRET_ACCESS_KEY: 'secret' };
  Object.assign(process.env, credentials, { AWS_ENDPOINT_URL: originOf(server) });
  return originOf(server);
}

describe('A stage on AWS', () => {
  const { env } = process;
  const hint =
    'Check the AWS credentials, AWS_REGION, and that the stack staging-Inventory is deployed there; or leave out --stage.';

  beforeEach(() => {
    // Nothing else that would let the AWS SDK find credentials or a region.
    const others = Object.entries(env).filter(([name]) => !name.startsWith('AWS_'));
    const settings = {
      AWS_CONFIG_FILE: '/dev/null',
      AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
      AWS_REGION: 'eu-west-1',
    };
    process.env = { ...Object.fromEntries(others), ...settings, AWS_EC2_METADATA_DISABLED: 'true' };
  });

  afterEach(() => {
    process.env = env;
  });

  test('cannot be reached without credentials', async () => {
    await expect(findStage()).rejects.toThrow(
      `Cannot reach the stage staging: Could not load credentials from any providers. ${hint}`,
    );
  });

  test('cannot be reached without permission, or where AWS is somewhere else', async () => {
    const reason = 'User: eve is not authorized to perform: cloudformation:DescribeStacks';
    const error = `<Error><Type>Sender</Type><Code>AccessDenied</Code><Message>${reason}</Message></Error>`;
    const origin = await awsAnswers(403, `<ErrorResponse>${error}</ErrorResponse>`);

    await expect(findStage()).rejects.toThrow(
      `Cannot reach the stage staging: ${reason}. ${hint} AWS_ENDPOINT_URL is set to ${origin}: unset it.`,
    );
  });

  test('may run another version', async () => {
    const output = '<member><OutputKey>ApiId</OutputKey><OutputValue>api</OutputValue></member>';
    const stack = `<member><StackName>staging-Inventory</StackName><Outputs>${output}</Outputs></member>`;
    await awsAnswers(
      200,
      `<DescribeStacksResponse><DescribeStacksResult><Stacks>${stack}</Stacks></DescribeStacksResult></DescribeStacksResponse>`,
    );

    await expect(findStage()).rejects.toThrow(
      'The stage staging runs another version of the service than this command',
    );
  });
});
