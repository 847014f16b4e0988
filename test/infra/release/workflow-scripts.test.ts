import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { scriptStep } from '../../support/workflows.ts';

type Texts = Readonly<Record<string, string>>;

const folder = temporaryFolder();

/**
 * Runs the script of a step as GitHub does, in a folder of its own.
 *
 * @param at file, job and name of the step
 * @param programs that stand in for others, as Bash; each notes what it is called with in `calls`
 */
function runStep(at: readonly [string, string, string], programs: Texts, env: Texts = {}, files: Texts = {}) {
  const cwd = mkdtempSync(path.join(folder, 'step-'));
  const bin = path.join(cwd, 'bin');
  mkdirSync(bin);
  for (const [name, text] of Object.entries(programs)) {
    writeFileSync(path.join(bin, name), `#!/usr/bin/env bash\necho "$*" >> calls\n${text}\n`);
    chmodSync(path.join(bin, name), 0o755);
  }
  for (const [name, text] of Object.entries({ calls: '', output: '', ...files })) {
    writeFileSync(path.join(cwd, name), text);
  }
  const { run: script } = scriptStep(...at);
  const { status, stdout } = spawnSync('bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', script], {
    cwd,
    encoding: 'utf8',
    env: { ...process.env, GITHUB_OUTPUT: path.join(cwd, 'output'), ...env, PATH: `${bin}:${process.env.PATH}` },
  });
  const read = (name: string) => readFileSync(path.join(cwd, name), 'utf8');
  return { status, stdout, calls: read('calls'), output: read('output'), read };
}

/** `gh`, with comments that its own `--jq` would go through. */
const ghWith = (all: object[]) =>
  `if [ "$2" = --paginate ]; then jq --raw-output "$5" <<< '${JSON.stringify(all)}'; fi`;

describe('the comment on a pull request', () => {
  const at = ['changes.yml', 'diff', 'Comment'] as const;
  /** As infra/release/changes.ts writes it. */
  const MARK = '<!-- changes to the deployed stacks -->';
  const env = { COMMENTS: 'repos/acme/pets/issues/7/comments', REPOSITORY: 'repos/acme/pets' };
  const filter = '.[] | select(.user.login == "github-actions[bot]" and (.body | startswith(env.mark))) | .id';
  const bot = { login: 'github-actions[bot]' };
  const comments = [
    { id: 1, user: bot, body: 'Hello' },
    { id: 2, user: { login: 'eve' }, body: `${MARK} mine` },
  ];

  test.each([
    ['is a new one at first', comments, `POST ${env.COMMENTS}`],
    [
      'is changed in its place afterwards',
      [...comments, { id: 42, user: bot, body: `${MARK}\n\nOld` }],
      'PATCH repos/acme/pets/issues/comments/42',
    ],
  ])('%s', (_, all, call) => {
    const { status, calls } = runStep(at, { gh: ghWith(all) }, env, { 'changes.md': `${MARK}\n\n### No changes\n` });

    expect(status).toBe(0);
    expect(calls).toBe(
      `api --paginate ${env.COMMENTS} --jq ${filter}\napi --silent --method ${call} --field body=@changes.md\n`,
    );
  });

  test.each([
    ['is none where nothing could be compared', '', 0],
    ['fails where GitHub does not answer', MARK, 1],
  ])('%s', (_, changes, status) => {
    expect(runStep(at, { gh: 'exit 1' }, env, { 'changes.md': changes })).toMatchObject({ status });
  });
});

describe('the audit of the packages', () => {
  const inPullRequest = ['pull-request.yml', 'audit', 'Audit the packages'] as const;
  const inDeploy = ['deploy.yml', 'build', 'Audit the packages'] as const;
  const accepted = '::warning::npm audit did not pass. It is accepted: No fix yet.\n';
  const goesOn = expect.stringMatching(/^::warning::npm audit did not pass\. The deploy goes on .*\n$/);

  test.each([
    ['lets a pull request pass that is clean', inPullRequest, 0, '', 0, ''],
    ['stops a pull request that is not', inPullRequest, 1, '', 1, ''],
    ['prints why it may pass', inPullRequest, 1, 'No fix yet.', 0, accepted],
    ['says nothing of a clean deploy', inDeploy, 0, '', 0, ''],
    ['lets a deploy go on, and prints why', inDeploy, 1, '', 0, goesOn],
  ])('%s', (_, at, auditExit, ACCEPTED, status, stdout) => {
    const outcome = runStep(at, { npm: `exit ${auditExit}` }, { ACCEPTED });

    expect(outcome).toMatchObject({ status, stdout, calls: 'audit --audit-level=moderate\n' });
  });
});

test.each([0, 1])(
  'A pull request from a fork is compared with its base branch, and ends with %i as that',
  (exitCode) => {
    const npm = `if [ "$2" = --silent ]; then echo '### Changes'; exit ${exitCode}; fi`;
    const { status, calls, read } = runStep(['changes.yml', 'diff', 'Compare with the base branch'], { npm });

    expect(status).toBe(exitCode);
    expect(calls).toBe('run synth\nrun --silent changes -- --app assembly --against cdk.out --markdown\n');
    expect(read('changes.md')).toMatch(
      /^### Changes\n[^]*There is no diff against the last deploy: a pull request from/,
    );
  },
);

/** A step of the job that deploys a stage. */
const deployStep = (name: string) => ['deploy-stage.yml', 'deploy', name] as const;

describe('the key of the smoke test', () => {
  const env = { STAGE: 'staging' };
  const outputs = '{"staging-Inventory":{"BaseUrl":"https://a.example/v1"}}';
  const call = 'run --silent smoke -- --url https://a.example/v1';

  test('lives for an hour and is masked before anything else is written', () => {
    const npm = `echo '{"id":"k1","key":"psk_0123456789"}'`;

    expect(runStep(deployStep('Issue a key for an hour'), { npm }, env)).toMatchObject({
      status: 0,
      stdout: '::add-mask::psk_0123456789\n',
      calls: 'run --silent admin -- keys create --stage staging --name smoke --plan free --expires 1h --json\n',
      output: 'id=k1\nkey=psk_0123456789\n',
    });
  });

  test('is not there where it could not be issued, and the step fails', () => {
    const outcome = runStep(deployStep('Issue a key for an hour'), { npm: 'exit 1' }, env);

    expect(outcome).toMatchObject({ status: 1, stdout: '', output: '' });
  });

  test.each([
    ['', outputs, `${call}\n`],
    ['--read-only', outputs, `${call} --read-only\n`],
    ['', '{}', ''],
  ])('opens the address that the deploy has put out, if any (%j, %s)', (OPTIONS, put, calls) => {
    const outcome = runStep(deployStep('Smoke test'), { npm: '' }, { ...env, OPTIONS }, { 'outputs.json': put });

    expect(outcome).toMatchObject({ status: calls === '' ? 1 : 0, calls });
    expect(scriptStep(...deployStep('Smoke test')).env).toEqual({
      PET_STORE_API_KEY: '${{ steps.key.outputs.key }}',
      OPTIONS: '${{ inputs.smoke-options }}',
    });
  });

  test('is revoked by its id', () => {
    expect(runStep(deployStep('Revoke the key'), { npm: '' }, { ...env, KEY_ID: 'k1' })).toMatchObject({
      status: 0,
      calls: 'run --silent admin -- keys revoke k1 --stage staging --yes\n',
    });
  });
});

const describing = (OutputValue: string) =>
  `echo '${JSON.stringify({ Stacks: [{ Outputs: [{ OutputKey: 'RunningRelease', OutputValue }] }] })}'`;
const failing = (reason: string) => `echo '${reason}' >&2; exit 254`;

describe('the release that runs', () => {
  test.each([
    ['is what the stack says', describing('100'), 'release=100\n'],
    ['is none to go back to where it was deployed by hand', describing('none'), 'release=\n'],
    ['is none to go back to where it is this one', describing('200'), 'release=\n'],
    ['is none where the stack is of before', `echo '{"Stacks":[{}]}'`, 'release=\n'],
    ['is none before the first deploy', failing('Stack with id staging-Inventory does not exist'), 'release=\n'],
    ['stops the deploy where it cannot be told', failing('AccessDenied'), ''],
  ])('%s', (_, aws, output) => {
    const env = { STAGE: 'staging', RELEASE: '200' };

    expect(runStep(deployStep('Look which release runs'), { aws }, env)).toMatchObject({
      status: output === '' ? 1 : 0,
      output,
      calls: 'cloudformation describe-stacks --stack-name staging-Inventory --output json\n',
    });
  });
});

test.each(['cdk.out', 'cdk.out/all-at-once'])('A deploy of %s tells the stack which release it is', (ASSEMBLY) => {
  const env = { STAGE: 'staging', RELEASE: '200', ASSEMBLY };

  expect(runStep(deployStep('Deploy'), { npx: '' }, env)).toMatchObject({
    status: 0,
    calls: `cdk deploy --app ${ASSEMBLY} staging/* --parameters staging-Inventory:ReleaseId=200 --require-approval never --outputs-file outputs.json\n`,
  });
});

test.each([
  [
    'takes the release back, all at once, and says so',
    '100',
    0,
    'cdk deploy --app before/all-at-once production/* --parameters production-Inventory:ReleaseId=100 --require-approval never\n',
    'production is back at the release of run 100.',
  ],
  [
    'says where there is nothing to go back to',
    '',
    1,
    '',
    'There is no release to go back to: 200 still runs on production.',
  ],
])('A failed smoke test %s', (_, BEFORE, status, calls, told) => {
  const env = { STAGE: 'production', RELEASE: '200', BEFORE };
  const stdout = `::error::The smoke test has failed. ${told}\n`;

  expect(runStep(deployStep('Go back'), { npx: '' }, env)).toMatchObject({ status, calls, stdout });
});

describe('going back to a run', () => {
  const deployed = '.github/workflows/deploy.yml push main';

  test.each([
    ['of the workflow Deploy on main is done', '100', deployed, 0],
    ['of a pull request is not', '100', '.github/workflows/changes.yml pull_request main', 1],
    ['of another branch is not', '100', '.github/workflows/deploy.yml push other', 1],
    ['that is no number is not', '100/../200', deployed, 1],
  ])('%s', (_, RUN, found, expected) => {
    const gh = `echo '${found}'`;
    const { status, stdout } = runStep(['roll-back.yml', 'check', 'Check the run'], { gh }, { REPOSITORY: 'a/b', RUN });

    expect(status).toBe(expected);
    expect(stdout).toMatch(expected === 0 ? /^$/ : /^::error::/);
  });
});
