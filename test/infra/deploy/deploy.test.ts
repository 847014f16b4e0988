import { describe, expect, test } from '@jest/globals';
import { gapsOf } from '../../../infra/deploy/deploy-stage.ts';
import { failureLine } from '../../support/admin-command.ts';
import { account, made, onAws, staging } from './account.ts';
import { called, deploy, forgetCalls } from './deploy-here.ts';

const table = { Type: 'AWS::DynamoDB::Table', Properties: { KeySchema: [] } };

test('The help states that the service was not yet deployed to AWS', async () => {
  expect((await deploy(['--help'])).stdout).toContain(
    'runs locally and on emulators, not yet deployed to an AWS account',
  );
});

test.each<[what: string, words: string[], env: Record<string, string | undefined>, line: RegExp]>([
  ['a missing stage', [], {}, /not specified \(see npm run deploy -- --help\)/],
  [
    'a missing region',
    ['--stage', 'staging'],
    { AWS_REGION: undefined },
    /No AWS region is set. Set one, such as: export AWS_/,
  ],
  [
    'missing credentials',
    ['--stage', 'staging'],
    { AWS_ACCESS_KEY_ID: undefined },
    /With profile default \(AWS_PROFILE is not set\): The call to AWS failed: Could not load credentials from any/,
  ],
  [
    'a profile without credentials',
    ['--stage', 'staging'],
    { AWS_ACCESS_KEY_ID: undefined, AWS_PROFILE: 'ann' },
    /^With profile ann: The call to AWS failed: .* nothing was deployed\.$/,
  ],
  [
    'uncommitted changes',
    ['--stage', 'staging', '--roll-back'],
    { CHANGES: ' M infra/stages.ts' },
    /Tracked files have changes \(git status\): staging must be deployed from a commit/,
  ],
  [
    'alarms of production without recipients',
    ['--stage', 'production'],
    {},
    /^The alarms of production have no recipients: set alarmTargets in .* Nothing was deployed\.$/,
  ],
])('One line reports %s', async (_, words, env, line) => {
  expect(failureLine(await deploy(words, env))).toMatch(line);
});

describe('npm run deploy', () => {
  const synth = 'cdk synth staging/* --quiet --output FOLDER --context previousBuild=unknown';
  const ofDeploy = [
    'cdk deploy staging/* --app FOLDER --outputs-file FOLDER/outputs.json --require-approval never',
    'node infra/admin/main.ts keys create --name smoke --plan pro --expires 2h --stage staging --json',
    'node test/smoke/main.ts --url https://aws/v1',
    'node infra/admin/main.ts keys revoke smokekey --yes --stage staging --json',
  ];

  test('deploys, and runs the smoke test with a key that is revoked afterwards', async () => {
    const { exitCode, stdout, stderr } = await onAws(['--stage', 'staging']);

    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(stdout).toContain('Deployed: https://api/v1\n');
    expect(stdout).not.toContain('psk_');
    expect(called()).toEqual([synth, ...ofDeploy]);
  });

  test('runs a read-only smoke test on production', async () => {
    account.stacks = { 'production-Inventory': 'UPDATE_COMPLETE' };

    expect(await onAws(['--stage', 'production', '--roll-back'])).toMatchObject({ exitCode: 0, stderr: '' });
    expect(called()).toContain('node test/smoke/main.ts --url https://aws/v1 --read-only');
  });

  test('revokes the key if the smoke test fails, and reports that the stage may have changed', async () => {
    const { exitCode, stderr } = await onAws(['--stage', 'staging'], { FAILS: '*smoke/main*' });

    expect({ exitCode, stderr }).toMatchObject({ exitCode: 3, stderr: expect.stringContaining('Failed: node test/') });
    expect(stderr).toContain('npm run deploy -- --stage staging --roll-back');
    expect(called()).toEqual([synth, ...ofDeploy]);
  });

  test('cancels an update before a rollback, and loses a table only if it is named', async () => {
    account.stacks = { ...made, 'staging-Inventory': 'UPDATE_IN_PROGRESS' };
    account.template = { Resources: { ...staging.Resources, TablesNotes: table, TablesMore: table } };
    const words = ['--stage', 'staging', '--roll-back'];
    const { exitCode, stderr } = await onAws([...words, '--lose', 'TablesMore']);

    expect(stderr).toMatch(/^staging would lose TablesNotes: .* To deploy anyway: --allow-table-loss TablesNotes\n$/);
    expect({ exitCode, canceled: account.canceled }).toEqual({ exitCode: 1, canceled: ['staging-Inventory'] });
    expect(called()).toEqual([`${synth} --context rollout=allAtOnce`]);
    words.push('--allow-table-loss', 'TablesMore', 'TablesNotes');
    expect(await onAws(words, { FAILS: 'deploy*' })).toMatchObject({ exitCode: 3 });
    expect(called().slice(2)).toEqual(ofDeploy.slice(0, 1));
  });

  test('rolls back without the tables that the current release created', async () => {
    account.template = { Resources: { ...staging.Resources, TablesMore: table } };
    account.createdAt = '2026-11-20T12:01:00Z';
    account.stacks = { 'staging-Inventory': 'CREATE_COMPLETE' };
    expect((await onAws(['--stage', 'staging', '--roll-back'])).stderr).toMatch(/^staging would lose TablesMore: /);
    account.stacks = made;

    expect(await onAws(['--stage', 'staging', '--roll-back'])).toMatchObject({ exitCode: 0, stderr: '' });
    expect((await onAws(['--stage', 'staging'])).stderr).toMatch(/^staging would lose TablesMore: /);
  });

  test('only shows the difference in a dry run', async () => {
    account.stacks = { 'staging-Inventory': 'UPDATE_IN_PROGRESS' };
    expect(await onAws(['--stage', 'staging', '--roll-back', '--dry-run'])).toMatchObject({ exitCode: 0, stderr: '' });
    account.stacks = {};
    expect(await onAws(['--stage', 'staging', '--dry-run'])).toMatchObject({ exitCode: 0, stderr: '' });
    // Neither changes that are in no commit stop it, nor alarms without recipients.
    account.stacks = { 'production-Inventory': 'UPDATE_COMPLETE' };
    const changed = await onAws(['--stage', 'production', '--dry-run'], { CHANGES: ' M infra/stages.ts' });
    expect(changed).toMatchObject({ exitCode: 0, stderr: '' });

    const diff = 'cdk diff staging/* --app FOLDER --method template';
    const ofProduction = diff.replace('staging', 'production');
    expect(called()).toEqual([
      `${synth} --context rollout=allAtOnce`,
      diff,
      synth,
      diff,
      synth.replace('staging', 'production'),
      ofProduction,
    ]);
    expect(account.canceled).toEqual([]);
  });

  test('keeps the tables of a failed first deployment, and continues it', async () => {
    for (const status of ['', 'REVIEW_IN_PROGRESS', 'ROLLBACK_COMPLETE', 'CREATE_FAILED', 'UPDATE_FAILED']) {
      account.stacks = status ? { 'staging-Inventory': status } : {};
      expect(await onAws(['--stage', 'staging'])).toMatchObject({ exitCode: 0, stderr: '' });
      expect(called()).toContain(`${ofDeploy[0]} --no-rollback`);
      forgetCalls();
    }
  });

  describe('after a failed deployment', () => {
    const ofStack = { PhysicalResourceId: 'arn', StackId: 'arn' };
    const failed = {
      LogicalResourceId: 'ListAlias',
      ResourceType: 'AWS::Lambda::Alias',
      ResourceStatus: 'UPDATE_FAILED',
    };
    const canceledToo = { ...failed, LogicalResourceId: 'Other', ResourceStatusReason: 'Resource update cancelled' }; // cspell:disable-line
    const [start, before] = [
      { ...ofStack, ResourceStatus: 'UPDATE_IN_PROGRESS' },
      { ...failed, LogicalResourceId: 'Old', ResourceStatusReason: 'Long ago' },
    ];

    test.each<[status: string, line: RegExp]>([
      [
        'UPDATE_ROLLBACK_COMPLETE',
        /^Failed: cdk deploy\. staging-Inventory was rolled back \(UPDATE_ROLLBACK_COMPLETE\): ListAlias \(AWS::Lambda::Alias\) failed: An alarm fired\. Run the same command again after an interruption; otherwise, fix the cause first\.\n$/,
      ],
      ['UPDATE_ROLLBACK_FAILED', /could not be rolled back, see docs\/runbooks.md#stuck-stack \(UPDATE.*: ListAlias /],
      ['UPDATE_FAILED', / is not deployed completely \(UPDATE_FAILED\): ListAlias /],
    ])('names the first resource that failed if the stack is %s', async (status, line) => {
      const cause = { ...failed, ResourceStatusReason: 'An alarm fired' };
      account.events = [
        { ...ofStack, ResourceStatus: 'UPDATE_ROLLBACK_IN_PROGRESS' },
        canceledToo,
        cause,
        start,
        before,
      ];
      account.statusAfter = status;
      const { exitCode, stderr } = await onAws(['--stage', 'staging'], { FAILS: 'deploy*' });

      expect({ exitCode, stderr }).toEqual({ exitCode: 3, stderr: expect.stringMatching(line) });
    });

    test('names no resource if the stack did not change', async () => {
      account.events = [before, start];
      const { stderr } = await onAws(['--stage', 'staging'], { FAILS: 'deploy*' });

      expect(stderr).toMatch(
        /^Failed: cdk deploy\. staging-Inventory was not changed\. Run the same command again after/,
      );
    });
  });

  test('shows the running and the previous commit, even with uncommitted changes', async () => {
    account.outputs = { RunningBuild: 'b2', PreviousBuild: 'a1' };
    account.stacks = { 'production-Inventory': 'UPDATE_COMPLETE' };
    const { exitCode, stdout } = await onAws(['--stage', 'production', '--status'], { CHANGES: ' M infra/stages.ts' });

    expect({ exitCode, stdout }).toEqual({
      exitCode: 0,
      stdout: 'Account: 111122223333/eu-west-1, as arn:ann\nproduction: UPDATE_COMPLETE\nRunning: b2\nPrevious: a1\n',
    });
    expect(called()).toEqual([]);
  });

  test.each([
    ['the running one', 'b2', 'b2'],
    ['the one before, if the running one is deployed again', '4a7c', 'a1'],
  ])('writes the previous commit into the outputs: %s', async (_, RunningBuild, previous) => {
    account.outputs = { RunningBuild, PreviousBuild: 'a1' };
    await onAws(['--stage', 'staging', '--dry-run']);

    expect(called()[0]).toBe(synth.replace('unknown', previous));
  });

  test('warns in the pipeline of missing alarm recipients and code owners', async () => {
    const { exitCode, stdout } = await onAws(['--stage', 'staging'], { CI: 'true' });

    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^::warning::The alarms of production have no recipients: /);
    expect((await onAws(['--stage', 'staging'])).stdout).not.toContain('::warning::');
    expect(gapsOf('production', '# Replace @OWNER\n/.github/ @acme/ops')).toEqual([]);
    expect(gapsOf('production', '# Owners\n/.github/ @OWNER')).toEqual([expect.stringContaining('CODEOWNERS')]);
  });
});
