import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { stackNameOf } from '../../../infra/stages.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { scriptStep } from '../../support/workflows.ts';

/** Runs the script of a step as GitHub does, in a folder of its own, with programs of ours instead of some. */
const folder = temporaryFolder();
function runScript(script: string, programs: Record<string, string>, files: Record<string, string>, env: object) {
  const cwd = mkdtempSync(path.join(folder, 'step-'));
  const bin = path.join(cwd, 'bin');
  mkdirSync(bin);
  for (const [name, text] of Object.entries(programs)) {
    writeFileSync(path.join(bin, name), `#!/usr/bin/env bash\n${text}\n`);
    chmodSync(path.join(bin, name), 0o755);
  }
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(cwd, name), text);
  const written = { GITHUB_OUTPUT: path.join(cwd, 'output'), GITHUB_STEP_SUMMARY: path.join(cwd, 'summary') };
  for (const file of [...Object.values(written), path.join(cwd, 'calls')]) writeFileSync(file, '');
  const { status, stdout } = spawnSync('bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', script], {
    cwd,
    encoding: 'utf8',
    env: { ...process.env, ...written, ...env, PATH: `${bin}:${process.env.PATH}` },
  });
  const read = (name: string) => readFileSync(path.join(cwd, name), 'utf8');
  return { status, stdout, calls: read('calls'), output: read('output'), read };
}

/** A program that notes what it is called with. */
const noting = (text = ''): string => `echo "$*" >> calls\n${text}`;

/** `gh`, with comments that its own `--jq` would go through. */
const gh = (comments: object[]): string =>
  noting(`if [ "$2" = --paginate ]; then jq --raw-output "$5" <<< '${JSON.stringify(comments)}'; fi`);

/** As infra/release/changes.ts writes it. */
const COMMENT_MARK = '<!-- changes to the deployed stacks -->';

const comment = (id: number, login: string, body: string) => ({ id, user: { login }, body });

describe('the comment on a pull request', () => {
  const { run: script } = scriptStep('changes.yml', 'diff', 'Comment');
  const env = { COMMENTS: 'repos/acme/pets/issues/7/comments', REPOSITORY: 'repos/acme/pets' };
  const files = { 'changes.md': `${COMMENT_MARK}\n\n### No changes\n` };
  const filter = '.[] | select(.user.login == "github-actions[bot]" and (.body | startswith(env.mark))) | .id';
  const looked = `api --paginate ${env.COMMENTS} --jq ${filter}\n`;

  test('is a new one at first', () => {
    const others = [comment(1, 'github-actions[bot]', 'Hello'), comment(2, 'eve', `${COMMENT_MARK} mine`)];
    const { status, calls } = runScript(script, { gh: gh(others) }, files, env);

    expect(status).toBe(0);
    expect(calls).toBe(`${looked}api --silent --method POST ${env.COMMENTS} --field body=@changes.md\n`);
  });

  test('is changed in its place afterwards', () => {
    const earlier = [comment(1, 'eve', 'Hello'), comment(42, 'github-actions[bot]', `${COMMENT_MARK}\n\nOld`)];
    const { status, calls } = runScript(script, { gh: gh(earlier) }, files, env);

    expect(status).toBe(0);
    expect(calls).toBe(
      `${looked}api --silent --method PATCH repos/acme/pets/issues/comments/42 --field body=@changes.md\n`,
    );
  });

  test('is none where nothing could be compared', () => {
    const { status, calls } = runScript(script, { gh: gh([]) }, { 'changes.md': '' }, env);

    expect({ status, calls }).toEqual({ status: 0, calls: '' });
  });

  test('fails where GitHub does not answer', () => {
    expect(runScript(script, { gh: noting('exit 1') }, files, env).status).toBe(1);
  });
});

describe('the audit of the packages', () => {
  const inPullRequest = scriptStep('pull-request.yml', 'audit', 'Audit the packages').run;
  const inDeploy = scriptStep('deploy.yml', 'build', 'Audit the packages').run;

  test.each([
    ['lets a pull request pass that is clean', inPullRequest, 0, '', 0, ''],
    ['stops a pull request that is not', inPullRequest, 1, '', 1, ''],
    [
      'prints why it may pass',
      inPullRequest,
      1,
      'No fix yet.',
      0,
      '::warning::npm audit did not pass. It is accepted: No fix yet.\n',
    ],
    ['says nothing of a clean deploy', inDeploy, 0, '', 0, ''],
    [
      'lets a deploy go on, and prints why',
      inDeploy,
      1,
      '',
      0,
      expect.stringMatching(/^::warning::npm audit did not pass\. The deploy goes on .*\n$/),
    ],
  ])('%s', (_, script, auditExit, accepted, status, stdout) => {
    const outcome = runScript(script, { npm: noting(`exit ${auditExit}`) }, {}, { ACCEPTED: accepted });

    expect(outcome).toMatchObject({ status, stdout, calls: 'audit --audit-level=moderate\n' });
  });
});

const comparing = (exitCode: number) => noting(`if [ "$2" = --silent ]; then echo '### Changes'; exit ${exitCode}; fi`);

describe('a pull request from a fork', () => {
  const { run: script } = scriptStep('changes.yml', 'diff', 'Compare with the base branch');
  test.each([0, 1])('is compared with the base branch, says why, and ends as the comparison does: %i', (exitCode) => {
    const { status, calls, read } = runScript(script, { npm: comparing(exitCode) }, {}, {});

    expect(status).toBe(exitCode);
    expect(calls).toBe('run synth\nrun --silent changes -- --app assembly --against cdk.out --markdown\n');
    expect(read('changes.md')).toMatch(/^### Changes\n/);
    expect(read('changes.md')).toContain('There is no diff against the last deploy: a pull request from a fork gets');
  });
});

describe('the key of the smoke test', () => {
  const KEY = 'psk_0123456789';
  const env = { STAGE: 'staging' };

  test('lives for an hour and is masked before anything else is written', () => {
    const { run: script } = scriptStep('deploy-stage.yml', 'deploy', 'Issue a key for an hour');
    const npm = noting(`echo '{"id":"k1","key":"${KEY}"}'`);
    const { status, stdout, calls, output } = runScript(script, { npm }, {}, env);

    expect({ status, stdout }).toEqual({ status: 0, stdout: `::add-mask::${KEY}\n` });
    expect(calls).toBe(
      'run --silent admin -- keys create --stage staging --name smoke --plan free --expires 1h --json\n',
    );
    expect(output).toBe(`id=k1\nkey=${KEY}\n`);
  });

  test('is not there where it could not be issued, and the step fails', () => {
    const { run: script } = scriptStep('deploy-stage.yml', 'deploy', 'Issue a key for an hour');
    const { status, stdout, output } = runScript(script, { npm: 'exit 1' }, {}, env);

    expect({ status, stdout, output }).toEqual({ status: 1, stdout: '', output: '' });
  });

  test.each([
    ['', 'run --silent smoke -- --url https://api.example.com/v1\n'],
    ['--read-only', 'run --silent smoke -- --url https://api.example.com/v1 --read-only\n'],
  ])('opens the address that the deploy has put out (%j)', (options, call) => {
    const { run: script, env: names } = scriptStep('deploy-stage.yml', 'deploy', 'Smoke test');
    const outputs = { [stackNameOf('staging')]: { BaseUrl: 'https://api.example.com/v1' } };
    const files = { 'outputs.json': JSON.stringify(outputs) };
    const { status, calls } = runScript(script, { npm: noting() }, files, { ...env, OPTIONS: options });

    expect({ status, calls }).toEqual({ status: 0, calls: call });
    expect(names).toEqual({
      PET_STORE_API_KEY: '${{ steps.key.outputs.key }}',
      OPTIONS: '${{ inputs.smoke-options }}',
    });
  });

  test('opens nothing where the deploy has put out no address', () => {
    const { run: script } = scriptStep('deploy-stage.yml', 'deploy', 'Smoke test');
    const { status, calls } = runScript(script, { npm: noting() }, { 'outputs.json': '{}' }, { ...env, OPTIONS: '' });

    expect({ status, calls }).toEqual({ status: 1, calls: '' });
  });

  test('is revoked by its id', () => {
    const { run: script } = scriptStep('deploy-stage.yml', 'deploy', 'Revoke the key');
    const { status, calls } = runScript(script, { npm: noting() }, {}, { ...env, KEY_ID: 'k1' });

    expect({ status, calls }).toEqual({
      status: 0,
      calls: 'run --silent admin -- keys revoke k1 --stage staging --yes\n',
    });
  });
});

const stack = (release: string) =>
  `echo '${JSON.stringify({ Stacks: [{ Outputs: [{ OutputKey: 'RunningRelease', OutputValue: release }] }] })}'`;
const failing = (reason: string) => `echo '${reason}' >&2; exit 254`;

describe('the release that runs', () => {
  const { run: script } = scriptStep('deploy-stage.yml', 'deploy', 'Look which release runs');
  const env = { STAGE: 'staging', RELEASE: '200' };

  test.each([
    ['is what the stack says', stack('100'), '100'],
    ['is none to go back to where it was deployed by hand', stack('none'), ''],
    ['is none to go back to where it is this one', stack('200'), ''],
    ['is none where the stack is of before', `echo '{"Stacks":[{}]}'`, ''],
    ['is none before the first deploy', failing('Stack with id staging-Inventory does not exist'), ''],
  ])('%s', (_, answer, release) => {
    const { status, calls, output } = runScript(script, { aws: noting(answer) }, {}, env);

    expect({ status, output }).toEqual({ status: 0, output: `release=${release}\n` });
    expect(calls).toBe('cloudformation describe-stacks --stack-name staging-Inventory --output json\n');
  });

  test('stops the deploy where it cannot be told', () => {
    const { status, output } = runScript(script, { aws: failing('AccessDenied') }, {}, env);

    expect({ status, output }).toEqual({ status: 1, output: '' });
  });
});

describe('a deploy', () => {
  const { run: script } = scriptStep('deploy-stage.yml', 'deploy', 'Deploy');

  test.each(['cdk.out', 'cdk.out/all-at-once'])('of %s tells the stack which release it is', (ASSEMBLY) => {
    const env = { STAGE: 'staging', RELEASE: '200', ASSEMBLY };
    const { status, calls } = runScript(script, { npx: noting() }, {}, env);

    expect(status).toBe(0);
    expect(calls).toBe(
      `cdk deploy --app ${ASSEMBLY} staging/* --parameters ${stackNameOf('staging')}:ReleaseId=200 --require-approval never --outputs-file outputs.json\n`,
    );
  });
});

describe('a failed smoke test', () => {
  const { run: script } = scriptStep('deploy-stage.yml', 'deploy', 'Go back');
  const env = { STAGE: 'production', RELEASE: '200' };

  test('takes the release back, all at once, and says so', () => {
    const { status, stdout, calls } = runScript(script, { npx: noting() }, {}, { ...env, BEFORE: '100' });

    expect(calls).toBe(
      'cdk deploy --app before/all-at-once production/* --parameters production-Inventory:ReleaseId=100 --require-approval never\n',
    );
    expect({ status, stdout }).toEqual({
      status: 0,
      stdout: '::error::The smoke test has failed. production is back at the release of run 100.\n',
    });
  });

  test('says where there is nothing to go back to', () => {
    const { status, stdout, calls } = runScript(script, { npx: noting() }, {}, { ...env, BEFORE: '' });

    expect({ status, calls }).toEqual({ status: 1, calls: '' });
    expect(stdout).toMatch(/^::error::.*There is no release to go back to: 200 still runs on production\.\n$/);
  });
});

describe('going back to a run', () => {
  const { run: script } = scriptStep('roll-back.yml', 'check', 'Check the run');
  const deployed = '.github/workflows/deploy.yml push main';

  test.each([
    ['of the workflow Deploy on main is done', '100', deployed, 0],
    ['of a pull request is not', '100', '.github/workflows/changes.yml pull_request main', 1],
    ['of another branch is not', '100', '.github/workflows/deploy.yml push other', 1],
    ['that is no number is not', '100/../200', deployed, 1],
  ])('%s', (_, RUN, found, expected) => {
    const { status, stdout } = runScript(script, { gh: `echo '${found}'` }, {}, { REPOSITORY: 'acme/pets', RUN });

    expect(status).toBe(expected);
    expect(stdout).toMatch(expected === 0 ? /^$/ : /^::error::/);
  });
});
