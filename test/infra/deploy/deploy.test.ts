import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { failureLine } from '../../support/admin-command.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { account, called, deploy, forgetCalls, made, staging, USER_ARN } from './account.ts';

const noKey = { AWS_ACCESS_KEY_ID: undefined };
const CHANGED = { CHANGES: ' M infra/stages.ts' };
const GITHUB_OUTPUT = path.join(temporaryDirectory(), 'output');
const table = { Type: 'AWS::DynamoDB::Table', Properties: { KeySchema: [] } };

test('The help states that the service was not yet deployed to AWS', async () => {
  expect((await deploy(['--help'])).stdout).toContain(
    'runs locally and on emulators, not yet deployed to an AWS account',
  );
});

test.each<[what: string, words: string, env: Record<string, string | undefined>, line: RegExp]>([
  ['a missing stage', '', {}, /not specified \(see npm run deploy -- --help\)/],
  ['a missing region', '--stage staging', { AWS_REGION: undefined }, /No AWS region is set. Set one, such as: export/],
  [
    'missing credentials',
    '--stage staging',
    noKey,
    /With profile default \(AWS_PROFILE is not set\): The call .*: Could/,
  ],
  [
    'a profile without them',
    '--stage staging',
    { ...noKey, AWS_PROFILE: 'ann' },
    /^With profile ann: .* was deployed\.$/,
  ],
  [
    'uncommitted changes',
    '--stage staging --roll-back',
    CHANGED,
    /have changes \(git status\): staging must be deployed/,
  ],
  [
    'alarms without recipients',
    '--stage production',
    {},
    /^The alarms of production have no .* Nothing was deployed\.$/,
  ],
])('One line reports %s', async (_, words, env, line) => {
  expect(failureLine(await deploy(words === '' ? [] : words.split(' '), env))).toMatch(line);
});

/** An event of the stack itself, and one of a resource that failed. */
const event = (ResourceStatus: string) => ({ PhysicalResourceId: 'arn', StackId: 'arn', ResourceStatus });
const failed = (LogicalResourceId: string, ResourceStatusReason: string) => ({
  LogicalResourceId,
  ResourceType: 'AWS::Lambda::Alias',
  ResourceStatus: 'UPDATE_FAILED',
  ResourceStatusReason,
});

describe('npm run deploy', () => {
  const synth = 'cdk synth staging/* --quiet --output FOLDER --context previousBuild=unknown';
  const ofDeploy = [
    'cdk deploy staging/* --app FOLDER --outputs-file FOLDER/outputs.json --require-approval never',
    'node infra/admin/main.ts keys create --name smoke --plan pro --expires 2h --stage staging --json',
    'node test/smoke/main.ts --url https://aws/v1 --page https://page',
    'node infra/admin/main.ts keys revoke smokekey --yes --stage staging --json',
  ];

  test('deploys, and runs the smoke test with a key that is revoked afterwards', async () => {
    const { exitCode, stdout, stderr } = await deploy(['--stage', 'staging']);

    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(stdout).toContain('Deployed: https://api/v1\n');
    expect(stdout).not.toContain('psk_');
    expect(called()).toEqual([synth, ...ofDeploy]);
  });

  test('runs a read-only smoke test on production, without a page that the stage does not have', async () => {
    account.stacks = { 'production-Inventory': 'UPDATE_COMPLETE' };

    expect(await deploy(['--stage', 'production', '--roll-back'])).toMatchObject({ exitCode: 0, stderr: '' });
    expect(called()).toContain('node test/smoke/main.ts --url https://aws/v1 --no-page --read-only');
  });

  const back = 'To roll back to the previous commit: git checkout b2 && npm ci && npm run deploy -- --stage staging';

  test.each([
    ['with the previous commit', 'b2', [], `${back} --roll-back`, 'before=b2\n'],
    ['without one', 'none', [], 'Fix the cause, or deploy another commit.', ''],
    ['of the same commit', '4a7c', [], 'Fix the cause, or deploy another commit.', ''],
    ['in a rollback, without the bad commit', 'b2', ['--roll-back'], 'Fix the cause, or deploy another commit.', ''],
  ])(
    'revokes the key if the smoke test fails, and says what helps: %s',
    async (_, RunningBuild, words, advice, output) => {
      account.outputs = { RunningBuild };
      writeFileSync(GITHUB_OUTPUT, '');
      const env = { FAILS: '*smoke/main*', GITHUB_OUTPUT };
      const { exitCode, stderr } = await deploy(['--stage', 'staging', ...words], env);

      const line = `Failed: node test/smoke/main.ts. This version stays deployed. ${advice}\n`;
      expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: line });
      expect(readFileSync(GITHUB_OUTPUT, 'utf8')).toBe(output);
      expect(called().slice(1)).toEqual(ofDeploy);
    },
  );

  test('refuses a commit that is older than the running one, but not in a rollback', async () => {
    account.outputs = { RunningBuild: 'c3' };
    const { exitCode, stderr } = await deploy(['--stage', 'staging'], { GITHUB_OUTPUT });

    expect({ exitCode, stderr }).toEqual({
      exitCode: 1,
      stderr: expect.stringMatching(/^staging runs c3.* --roll-back\.\n$/),
    });
    expect(called()).toEqual([]);
    expect(await deploy(['--stage', 'staging', '--roll-back'])).toMatchObject({ exitCode: 0 });
  });

  test('cancels an update before a rollback, and loses a table only if it is named', async () => {
    account.stacks = { ...made, 'staging-Inventory': 'UPDATE_IN_PROGRESS' };
    account.template = { Resources: { ...staging.Resources, TablesNotes: table, TablesMore: table } };
    const words = ['--stage', 'staging', '--roll-back'];
    const { exitCode, stderr } = await deploy([...words, '--allow-table-loss', 'TablesMore']);

    expect(stderr).toMatch(/^staging would lose TablesNotes: .* To deploy anyway: --allow-table-loss TablesNotes\n$/);
    expect({ exitCode, canceled: account.canceled }).toEqual({ exitCode: 1, canceled: ['staging-Inventory'] });
    expect(called()).toEqual([`${synth} --context rollout=allAtOnce`]);
    words.push('--allow-table-loss', 'TablesMore', 'TablesNotes');
    expect(await deploy(words, { FAILS: 'deploy*' })).toMatchObject({ exitCode: 1 });
    expect(called().slice(2)).toEqual(ofDeploy.slice(0, 1));
  });

  test('rolls back without the tables that the current release created', async () => {
    account.template = { Resources: { ...staging.Resources, TablesMore: table } };
    account.createdAt = '2026-11-20T12:01:00Z';
    account.stacks = { 'staging-Inventory': 'CREATE_COMPLETE' };
    expect((await deploy(['--stage', 'staging', '--roll-back'])).stderr).toMatch(/^staging would lose TablesMore: /);
    account.stacks = made;

    expect(await deploy(['--stage', 'staging', '--roll-back'])).toMatchObject({ exitCode: 0, stderr: '' });
    expect((await deploy(['--stage', 'staging'])).stderr).toMatch(/^staging would lose TablesMore: /);
  });

  test.each<[what: string, stage: string, words: string[], status: string | undefined, context: string]>([
    ['a rollback', 'staging', ['--roll-back'], 'UPDATE_IN_PROGRESS', ' --context rollout=allAtOnce'],
    ['a first deployment', 'staging', [], undefined, ''],
    ['production, without recipients of alarms', 'production', [], 'UPDATE_COMPLETE', ''],
  ])(
    'only shows the difference in a dry run, even of uncommitted changes: %s',
    async (_, stage, words, status, context) => {
      account.stacks = status === undefined ? {} : { [`${stage}-Inventory`]: status };
      const outcome = await deploy(['--stage', stage, ...words, '--dry-run'], CHANGED);

      expect(outcome).toMatchObject({ exitCode: 0, stderr: '' });
      const calls = [`${synth}${context}`, 'cdk diff staging/* --app FOLDER --method template'];
      expect(called()).toEqual(calls.map((call) => call.replace('staging', stage)));
      expect(account.canceled).toEqual([]);
    },
  );

  test('keeps the tables of a failed first deployment, and continues it', async () => {
    for (const status of ['', 'REVIEW_IN_PROGRESS', 'ROLLBACK_COMPLETE', 'CREATE_FAILED', 'UPDATE_FAILED']) {
      account.stacks = status ? { 'staging-Inventory': status } : {};
      expect(await deploy(['--stage', 'staging'])).toMatchObject({ exitCode: 0, stderr: '' });
      expect(called()).toContain(`${ofDeploy[0]} --no-rollback`);
      forgetCalls();
    }
  });

  test('reports a deployment that was canceled, which must not be repeated', async () => {
    account.events = [event('UPDATE_ROLLBACK_IN_PROGRESS'), event('UPDATE_IN_PROGRESS'), failed('Old', 'Long ago')];
    account.statusAfter = 'UPDATE_ROLLBACK_COMPLETE';
    const { stderr } = await deploy(['--stage', 'staging'], { FAILS: 'deploy*' });

    expect(stderr).toMatch(
      /was rolled back \(\w+\): no resource failed\. The deployment was canceled\. Deploy this .* only if it is good\.\n$/,
    );
  });

  test.each<[status: string | undefined, line: RegExp]>([
    ['UPDATE_ROLLBACK_COMPLETE', / was rolled back \(\w+\): ListAlias \(.* failed: An alarm fired\. Run the same /],
    [
      'UPDATE_ROLLBACK_FAILED',
      /could not be rolled back \(UPDATE.*: ListAlias .* See docs\/runbooks.md#stuck-stack\.\n$/,
    ],
    [
      'UPDATE_FAILED',
      / is not deployed completely \(UPDATE_FAILED\): ListAlias \(AWS::Lambda::Alias\) failed: An alarm /,
    ],
    [
      undefined,
      /^Failed: cdk deploy\. staging-Inventory was not changed\. Run the same command again after an int.*\n$/,
    ],
  ])(
    'reports the status that a failed deployment leaves, and the first resource that failed: %s',
    async (status, line) => {
      const ended = [
        event('UPDATE_ROLLBACK_IN_PROGRESS'),
        failed('Other', 'Resource update cancelled'), // cspell:disable-line
        failed('ListAlias', 'An alarm fired'),
        event('UPDATE_IN_PROGRESS'),
      ];
      const before = [failed('Old', 'Long ago'), event('UPDATE_IN_PROGRESS')];
      account.events = [...(status === undefined ? [] : ended), ...before];
      account.statusAfter = status;
      const { exitCode, stderr } = await deploy(['--stage', 'staging'], { FAILS: 'deploy*' });

      expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: expect.stringMatching(line) });
    },
  );

  test('shows the running and the previous commit, even with uncommitted changes', async () => {
    account.outputs = { RunningBuild: 'b2', PreviousBuild: 'a1' };
    account.stacks = { 'production-Inventory': 'UPDATE_COMPLETE' };
    const { exitCode, stdout } = await deploy(['--stage', 'production', '--status'], CHANGED);

    expect({ exitCode, stdout }).toEqual({
      exitCode: 0,
      stdout: `Account: 111122223333/eu-west-1, as ${USER_ARN}\nproduction: UPDATE_COMPLETE\nRunning: b2\nPrevious: a1\n`,
    });
    expect(called()).toEqual([]);
  });

  test.each([
    ['the running one', 'b2', 'b2'],
    ['the one before, if the running one is deployed again', '4a7c', 'a1'],
  ])('writes the previous commit into the outputs: %s', async (_, RunningBuild, previous) => {
    account.outputs = { RunningBuild, PreviousBuild: 'a1' };
    await deploy(['--stage', 'staging', '--dry-run']);

    expect(called()[0]).toBe(synth.replace('unknown', previous));
  });

  test('warns in the pipeline of missing alarm recipients and code owners', async () => {
    const { exitCode, stdout } = await deploy(['--stage', 'staging'], { CI: 'true' });

    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^::warning::The alarms of production have no recipients: /);
    expect((await deploy(['--stage', 'staging'])).stdout).not.toContain('::warning::');
  });
});
