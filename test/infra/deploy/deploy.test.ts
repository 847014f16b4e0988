import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import * as v from 'valibot';
import { neededAtOnce, openDecisions } from '../../../infra/deploy/account.ts';
import { account } from '../../../infra/local-endpoint.ts';
import { stages } from '../../../infra/stages.ts';
import { failureLine, type Outcome, run } from '../../support/admin-command.ts';
import { type Fault, FaultyLink } from '../../support/faulty-engine.ts';
import { LocalHost } from '../../support/local-host.ts';
import { propertiesOf, readableStage } from '../../support/service-template.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const folder = temporaryFolder();
const calls = path.join(folder, 'calls');

/** Writes down how the CDK was called, in its place. */
writeFileSync(path.join(folder, 'cdk'), `#!/bin/sh\necho "$*" >> ${calls}\ntest "$1" != "$FAILS"\n`);
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

const cdkCalls = (): string[] => readFileSync(calls, 'utf8').trim().split('\n');

const policiesOf = (stage: string) => ({
  [`${stage}ExecutionPolicyArn`]: 'arn:may',
  [`${stage}BoundaryPolicyArn`]: 'arn:not',
});

const deploy = (words: readonly string[], env: Record<string, string> = {}): Promise<Outcome> =>
  run(process.execPath, ['infra/deploy/main.ts', ...words], { ...alone, ...env });

test.each<[what: string, words: string[], env: Record<string, string>, line: string]>([
  ['a stage that cannot be', ['--stage', 'Ann'], user, 'It must be staging, production, or dev-'],
  ['no stage', [], user, 'give --stage or --from-pipeline (see npm run deploy -- --help)'],
  ['no region', ['--stage', 'staging'], {}, 'The region is not set. Set one of AWS, such as: export AWS_REGION='],
  ['no credentials', ['--stage', 'staging'], { AWS_DEFAULT_REGION: 'eu-west-1' }, 'There are no AWS credentials: '],
  [
    'no answer',
    ['--stage', 'staging'],
    { ...user, AWS_ENDPOINT_URL: 'http://127.0.0.1:1' },
    'AWS does not answer: connect ECONNREFUSED',
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

test('Decisions are open on a stage that keeps its data, until they are made', () => {
  const alarmTargets = { emails: ['oncall@example.com'], topicArns: [] };

  expect(openDecisions(stages.staging)).toEqual([]);
  expect(openDecisions(stages.production)).toEqual(['alarmTargets', 'budget', 'apiDomain']);
  expect(openDecisions({ ...stages.production, alarmTargets })).toEqual(['budget', 'apiDomain']);
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

const members = (values: Readonly<Record<string, string>>, kind: string): string =>
  Object.entries(values)
    .map(([key, value]) => `<member><${kind}Key>${key}</${kind}Key><${kind}Value>${value}</${kind}Value></member>`)
    .join('');

interface FakeStack {
  readonly status?: string;
  readonly outputs?: Readonly<Record<string, string>>;
  readonly parameters?: Readonly<Record<string, string>>;
}

const stackXml = (name: string, { status = 'CREATE_COMPLETE', outputs = {}, parameters = {} }: FakeStack): Fault =>
  xml(
    'DescribeStacks',
    `<Stacks><member><StackName>${name}</StackName><StackStatus>${status}</StackStatus><Outputs>${members(outputs, 'Output')}</Outputs>` +
      `<Parameters>${members(parameters, 'Parameter')}</Parameters></member></Stacks>`,
  );

describe('npm run deploy, with the account of a local host', () => {
  let host: LocalHost;
  let link: FaultyLink;
  let stacks: Record<string, FakeStack>;
  let functions: number;
  /** What IAM is asked. */
  const attached: string[] = [];

  const onAws = (...words: string[]): Promise<Outcome> => deploy(words, { ...user, AWS_ENDPOINT_URL: link.origin });

  beforeAll(async () => {
    host = await LocalHost.start();
  });
  afterAll(() => host.close());

  beforeEach(async () => {
    link = await FaultyLink.to(host.origin);
    writeFileSync(calls, '');
    attached.length = 0;
    functions = 1_000;
    stacks = {};
    link.faults = ({ path: called, body }) => {
      if (called === '/2016-08-19/account-settings/' || called === '/2016-08-19/account-settings')
        return {
          kind: 'answer',
          status: 200,
          body: `{"AccountLimit":{"UnreservedConcurrentExecutions":${functions}}}`,
        };
      const call = new URLSearchParams(body);
      const [action, name] = [call.get('Action'), call.get('StackName') ?? ''];
      if (action === 'GetCallerIdentity') return xml(action, '<Account>111122223333</Account><Arn>arn:ann</Arn>');
      if (action === 'ListOpenIDConnectProviders') return xml(action, '<OpenIDConnectProviderList/>');
      if (action === 'AttachRolePolicy') attached.push(`${call.get('RoleName')} ${call.get('PolicyArn')}`);
      if (action === 'AttachRolePolicy') return xml(action, '');
      if (action === 'DescribeStacks') return stacks[name] ? stackXml(name, stacks[name]) : missing(name);
      return action === 'GetTemplate' ? missing(name) : undefined;
    };
  });
  afterEach(() => link.close());

  const bootstrapped = { parameters: { CloudFormationExecutionPolicies: 'any' } };

  test('deploys what has changed, issues one key, and smoke-tests with it every time', async () => {
    stacks = {
      'CDKToolkit-petdev': bootstrapped,
      'dev-ann-Inventory': { outputs: { ...host.host.outputs, BaseUrl: host.baseUrl } },
    };
    const first = await onAws('--stage', 'dev-ann');
    const second = await onAws('--stage', 'dev-ann');

    for (const { exitCode, stdout, stderr } of [first, second]) {
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
      expect(stdout).toMatch(/\d+ passed, 0 failed, 0 skipped/);
      expect(stdout).toContain(`Base URL   ${host.baseUrl}\n`);
      expect(stdout).toContain(`npx cdk destroy 'dev-ann/*' --context stage=dev-ann`);
      // No terminal shows it.
      expect(stdout).not.toContain('psk_');
    }
    const synth = 'synth --quiet --output cdk.out --context stage=dev-ann';
    const deployed = 'deploy dev-ann/* --app cdk.out --no-previous-parameters --require-approval never';
    expect(cdkCalls()).toEqual([synth, deployed, synth, deployed]);
    expect(host.host.records.apiKeys.filter(({ name }) => name === 'Smoke test')).toHaveLength(1);
  }, 60_000);

  test('has what would be lost checked, past which only its name leads', async () => {
    stacks = { 'CDKToolkit-petstaging': bootstrapped, 'staging-Inventory': {} };
    const words = ['--stage', 'staging', '--lose', 'staging-Inventory/One', 'staging-Inventory/Two'];
    const { exitCode, stdout } = await deploy(words, { ...user, AWS_ENDPOINT_URL: link.origin, FAILS: 'deploy' });

    expect(exitCode).toBe(1);
    expect(stdout).toContain(`node infra/release/changes.ts ${words.join(' ')}\n`);
  });

  test('makes a stack anew whose first deploy could not be taken back', async () => {
    stacks = { 'CDKToolkit-petdev': bootstrapped, 'dev-ann-Inventory': { status: 'ROLLBACK_FAILED' } };
    await deploy(['--stage', 'dev-ann'], { ...user, AWS_ENDPOINT_URL: link.origin, FAILS: 'deploy' });

    expect(cdkCalls().at(-1)).toMatch(/^deploy dev-ann/);
  });

  test('bootstraps with consent, and begins nothing in an account that is too small', async () => {
    expect((await onAws('--stage', 'dev-ann')).stderr).toContain('Say --yes to go on without being asked.\n');
    functions = 10;
    expect((await onAws('--stage', 'production', '--yes')).stderr).toMatch(
      /^Lambda lets this account run 10 functions/,
    );
    expect(cdkCalls()).toEqual(['']);
  });

  test.each([
    ['UPDATE_IN_PROGRESS', 'Wait until it is through'],
    ['UPDATE_ROLLBACK_FAILED', 'Run npx cdk rollback on it first (docs/runbooks.md)'],
  ])('leaves a stack that is in %s to itself', async (status, hint) => {
    stacks = { 'staging-Inventory': { status } };

    expect((await onAws('--stage', 'staging', '--yes')).stderr).toBe(
      `The stack staging-Inventory is in ${status}. ${hint}, and run the same command again.\n`,
    );
    expect(cdkCalls()).toEqual(['']);
  });

  test('sets up the pipeline: its access, a bootstrap for each stage within its policies, and what to do on GitHub', async () => {
    const roles = { PullRequestRoleArn: 'arn:pr', StagingRoleArn: 'arn:staging', ProductionRoleArn: 'arn:production' };
    const outputs = { ...roles, ...policiesOf('Staging'), ...policiesOf('Production') };
    stacks = {
      PipelineAccess: { outputs, parameters: { Repository: 'acme/cats', HasProvider: 'no' } },
      'CDKToolkit-petstaging': { parameters: { CloudFormationExecutionPolicies: 'arn:may,arn:not' } },
      'CDKToolkit-petprod': bootstrapped,
    };
    const { exitCode, stdout, stderr } = await onAws('--from-pipeline', 'acme@1/pets@2', '--yes');

    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(cdkCalls()).toEqual([
      'deploy PipelineAccess --parameters Repository=acme@1/pets@2 --parameters HasProvider=no --require-approval never',
      `bootstrap aws://111122223333/${account.region} --qualifier petprod --toolkit-stack-name CDKToolkit-petprod --cloudformation-execution-policies arn:may,arn:not`,
    ]);
    expect(attached).toEqual(
      ['petstaging', 'petprod'].flatMap((qualifier) =>
        ['deploy', 'lookup'].map((use) => `cdk-${qualifier}-${use}-role-111122223333-${account.region} arn:not`),
      ),
    );
    for (const [name, value] of Object.entries({ ACCOUNT: '111122223333', PRODUCTION_ROLE: 'arn:production' })) {
      expect(stdout).toContain(`gh variable set AWS_${name} --repo acme/pets --body '${value}'\n`);
    }
  });
});
