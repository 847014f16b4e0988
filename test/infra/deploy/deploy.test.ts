import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import * as v from 'valibot';
import { neededAtOnce } from '../../../infra/deploy/aws.ts';
import { account } from '../../../infra/local-endpoint.ts';
import { stages } from '../../../infra/stages.ts';
import { failureLine, type Outcome, run } from '../../support/admin-command.ts';
import { type Fault, FaultyLink } from '../../support/faulty-engine.ts';
import { LocalHost } from '../../support/local-host.ts';
import { inventoryTemplate, propertiesOf, readableStage } from '../../support/service-template.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const folder = temporaryFolder();
const calls = path.join(folder, 'calls');

/** Writes down how the CDK was called, in its place. */
const cdk = `#!/bin/sh
echo "$*" >> ${calls}
if [ "$1" = synth ]; then cp -r "$SYNTHESIZED_SERVICE/." "$4"; fi
test "$1" != "$FAILS"
`;
writeFileSync(path.join(folder, 'cdk'), cdk);
chmodSync(path.join(folder, 'cdk'), 0o755);

const alone = {
  AWS_CONFIG_FILE: '/dev/null',
  AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
  AWS_EC2_METADATA_DISABLED: 'true',
  AWS_REGION: undefined,
  AWS_DEFAULT_REGION: undefined,
  AWS_PROFILE: undefined,
  PATH: `${folder}:${process.env['PATH']}`,
};
const user = { AWS_REGION: account.region, AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE', AWS_SECRET_ACCESS_KEY: 'secret' };

const cdkCalls = (): string[] =>
  readFileSync(calls, 'utf8')
    .trim()
    .split('\n')
    .map((line) => line.replaceAll(/\S*\/assembly-\w+/g, 'FOLDER'));

const deploy = (words: readonly string[], env: Record<string, string> = {}): Promise<Outcome> =>
  run(process.execPath, ['infra/deploy/main.ts', ...words], { ...alone, ...env });

test.each<[what: string, words: string[], env: Record<string, string>, line: string]>([
  ['a stage that cannot be', ['--stage', 'Ann'], user, 'It must be staging, production, or dev-'],
  ['no stage', [], user, 'not specified (see npm run deploy -- --help)'],
  ['no region', ['--stage', 'staging'], {}, 'There is no region. Set one, such as: export AWS_REGION='],
  [
    'no credentials',
    ['--stage', 'staging'],
    { AWS_REGION: 'eu-west-1' },
    'Could not load credentials from any provider',
  ],
  [
    'no answer',
    ['--stage', 'staging'],
    { ...user, AWS_ENDPOINT_URL: 'http://127.0.0.1:1' },
    'AWS could not be used: connect ECONNREFUSED',
  ],
])('Of %s one line says what to do', async (_, words, env, line) => {
  expect(failureLine(await deploy(words, env))).toContain(line);
});

test('As many functions have to be free as the templates set aside, with the 100 that Lambda keeps', () => {
  const schema = v.looseObject({ ReservedConcurrentExecutions: v.optional(v.number(), 0) });
  const setAside = propertiesOf(readableStage('production'), 'AWS::Lambda::Function', schema);
  const sum = setAside.reduce((total, [, { ReservedConcurrentExecutions: some }]) => total + some, 0);

  expect([neededAtOnce(stages.staging), neededAtOnce(stages.production)]).toEqual([0, sum + 100]);
});

const xml = (action: string, result: string): Fault => ({
  kind: 'answer',
  status: 200,
  headers: { 'Content-Type': 'text/xml' },
  body: `<${action}Response><${action}Result>${result}</${action}Result></${action}Response>`,
});

const missing = (name: string): Fault => ({
  kind: 'answer',
  status: 400,
  headers: { 'Content-Type': 'text/xml' },
  body: `<ErrorResponse><Error><Code>ValidationError</Code><Message>Stack with id ${name} does not exist</Message></Error></ErrorResponse>`,
});

interface FakeStack {
  readonly status?: string;
  readonly outputs?: Readonly<Record<string, string>>;
  /** Logical ids of tables that it was deployed with, beside those of the stage. */
  readonly tables?: readonly string[];
}

const stackXml = (name: string, { status = 'CREATE_COMPLETE', outputs = {} }: FakeStack): Fault => {
  const members = Object.entries(outputs)
    .map(([key, value]) => `<member><OutputKey>${key}</OutputKey><OutputValue>${value}</OutputValue></member>`)
    .join('');
  const stack = `<StackName>${name}</StackName><StackStatus>${status}</StackStatus><Outputs>${members}</Outputs>`;
  return xml('DescribeStacks', `<Stacks><member>${stack}</member></Stacks>`);
};

const templateXml = (tables: readonly string[]): Fault => {
  const { Resources } = inventoryTemplate('staging');
  const more = tables.map((id) => [id, { Type: 'AWS::DynamoDB::Table', Properties: { KeySchema: [] } }]);
  const template = { Resources: { ...Resources, ...Object.fromEntries(more) } };
  return xml(
    'GetTemplate',
    `<TemplateBody>${JSON.stringify(template).replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</TemplateBody>`,
  );
};

describe('npm run deploy, with the account of a local host', () => {
  let host: LocalHost;
  let link: FaultyLink;
  let stacks: Record<string, FakeStack>;
  let functions: number;
  let cancelled: string[];
  const bootstraps = { 'CDKToolkit-petstaging': {}, 'CDKToolkit-petprod': {}, 'CDKToolkit-petdev': {} };

  const onAws = (words: string[], env = {}): Promise<Outcome> =>
    deploy(words, { ...user, AWS_ENDPOINT_URL: link.origin, ...env });

  beforeAll(async () => {
    host = await LocalHost.start();
  });
  afterAll(() => host.close());

  beforeEach(async () => {
    link = await FaultyLink.to(host.origin);
    writeFileSync(calls, '');
    functions = 1_000;
    cancelled = [];
    stacks = bootstraps;
    link.faults = ({ path: called, body }) => {
      if (called.startsWith('/2016-08-19/account-settings'))
        return {
          kind: 'answer',
          status: 200,
          body: `{"AccountLimit":{"UnreservedConcurrentExecutions":${functions}}}`,
        };
      const call = new URLSearchParams(body);
      const [action, name] = [call.get('Action'), call.get('StackName') ?? ''];
      if (action === 'GetCallerIdentity') return xml(action, '<Account>111122223333</Account><Arn>arn:ann</Arn>');
      if (action === 'DescribeStacks') return stacks[name] ? stackXml(name, stacks[name]) : missing(name);
      if (action === 'GetTemplate') return templateXml(stacks[name]?.tables ?? []);
      if (action !== 'CancelUpdateStack') return undefined;
      cancelled.push(name);
      stacks = { ...stacks, [name]: { ...stacks[name], status: 'UPDATE_ROLLBACK_COMPLETE' } };
      return xml(action, '');
    };
  });
  afterEach(() => link.close());

  const deployed = (stage: string) => ({
    [`${stage}-Inventory`]: { outputs: { ...host.host.outputs, BaseUrl: host.baseUrl } },
  });
  const smokeKeys = () => host.host.records.apiKeys.filter(({ name }) => name === 'smoke');

  test('deploys what has changed, and tries it with a key that is revoked afterwards', async () => {
    stacks = { ...bootstraps, ...deployed('staging') };
    const { exitCode, stdout, stderr } = await onAws(['--stage', 'staging']);

    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(stdout).toMatch(/\d+ passed, 0 failed, 0 skipped/);
    expect(stdout).toContain(`Deployed: ${host.baseUrl}\n`);
    expect(stdout).not.toContain('psk_');
    expect(cdkCalls()).toEqual([
      'synth --quiet --output FOLDER',
      expect.stringMatching(
        /^deploy staging\/\* --app FOLDER --parameters staging-Inventory:BuildId=[0-9a-f]{40} --require-approval never$/,
      ),
    ]);
    expect(smokeKeys()).toEqual([]);
  }, 60_000);

  test('reads from a stage as long as it is updated, and leaves no key behind where that fails', async () => {
    stacks = { ...bootstraps, ...deployed('staging'), 'staging-ReferenceSite': {} };
    const before = host.host.records.apiKeys.length;
    const { exitCode, stderr } = await onAws(['--stage', 'staging'], { FAILS: 'deploy' });

    expect({ exitCode, stderr }).toMatchObject({ exitCode: 3, stderr: expect.stringContaining('Failed: cdk deploy') });
    const used = link.calls.filter(({ path: called }) => called === '/apikeys');
    expect(used.length).toBeGreaterThan(0);
    expect(host.host.records.apiKeys).toHaveLength(before);
  }, 60_000);

  test('refuses to lose a table, forward and back, unless its name is given', async () => {
    stacks = { ...bootstraps, 'staging-Inventory': { tables: ['TablesNotes', 'TablesMore'] } };
    const words = ['--stage', 'staging', '--lose', 'TablesMore'];
    for (const more of [[], ['--roll-back']]) {
      const { exitCode, stderr } = await onAws([...words, ...more]);
      expect(stderr).toMatch(/^staging would lose TablesNotes: .* If that is meant: --lose TablesNotes\n$/);
      expect(exitCode).toBe(1);
    }
    expect(cdkCalls().filter((call) => call.startsWith('deploy'))).toEqual([]);

    await onAws([...words, 'TablesNotes'], { FAILS: 'deploy' });
    expect(cdkCalls().at(-1)).toMatch(/^deploy staging/);
  }, 60_000);

  test('goes back all at once, after an update that is under way was cancelled', async () => {
    stacks = { ...bootstraps, 'staging-Inventory': { status: 'UPDATE_IN_PROGRESS' } };
    await onAws(['--stage', 'staging', '--roll-back'], { FAILS: 'deploy' });

    expect(cancelled).toEqual(['staging-Inventory']);
    expect(cdkCalls().slice(0, -1)).toEqual(['synth --quiet --output FOLDER --context rollout=allAtOnce']);
  }, 60_000);

  test('bootstraps with consent, and begins nothing in an account that is too small', async () => {
    stacks = {};
    expect((await onAws(['--stage', 'dev-ann'])).stderr).toContain('Say --yes to go on without being asked.\n');
    functions = 10;
    expect((await onAws(['--stage', 'production', '--yes'])).stderr).toMatch(
      /^Lambda lets this account run 10 functions at once, and production needs 310\./,
    );
    expect(cdkCalls()).toEqual(['']);
  });

  test('names the setting where CloudFront is not for this account yet', async () => {
    stacks = { ...bootstraps, 'staging-ReferenceSite': { status: 'ROLLBACK_COMPLETE' } };
    const { stderr } = await onAws(['--stage', 'staging'], { FAILS: 'deploy' });

    expect(stderr).toMatch(/^The stack staging-ReferenceSite was not made\. .* set page: false in infra\/stages\.ts/);
  });
});
