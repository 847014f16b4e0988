import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { scriptStep } from '../../support/workflows.ts';

type Texts = Readonly<Record<string, string>>;

/** A script of a workflow as GitHub runs it, and what comes of it. */
interface Run {
  /** File, job and name of the step. */
  readonly step: readonly [string, string, string];
  /** Programs that stand in for others, as Bash; each notes its arguments in `calls`. */
  readonly programs: Texts;
  readonly env?: Texts;
  readonly files?: Texts;
  readonly expected: { status: number; calls?: string; stdout?: unknown; output?: string };
}

const folder = temporaryFolder();

function outcomeOf({ step, programs, env = {}, files = {} }: Run) {
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
  const { status, stdout } = spawnSync(
    'bash',
    ['--noprofile', '--norc', '-eo', 'pipefail', '-c', scriptStep(...step).run],
    {
      cwd,
      encoding: 'utf8',
      env: { ...process.env, GITHUB_OUTPUT: path.join(cwd, 'output'), ...env, PATH: `${bin}:${process.env.PATH}` },
    },
  );
  const read = (name: string) => readFileSync(path.join(cwd, name), 'utf8');
  return { status, stdout, calls: read('calls'), output: read('output') };
}

const check = (cases: Readonly<Record<string, Run>>): void => {
  test.each(Object.entries(cases))('%s', (_, run) => expect(outcomeOf(run)).toMatchObject(run.expected));
};

const COMMENTS = 'repos/acme/pets/issues/7/comments';
/** As infra/release/changes.ts writes it. */
const MARK = '<!-- changes to the deployed stacks -->';
const bot = { login: 'github-actions[bot]' };
const others = [
  { id: 1, user: bot, body: 'Hello' },
  { id: 2, user: { login: 'eve' }, body: `${MARK} mine` },
];

/** `gh`, with comments that its own `--jq` goes through. */
const comment = (comments: object[], call: string): Run => ({
  step: ['changes.yml', 'diff', 'Comment'],
  programs: {
    gh: `if [ "$2" = --paginate ]; then jq --raw-output "$5" <<< '${JSON.stringify(comments)}'; else echo "$4 $5"; fi`,
  },
  env: { COMMENTS, REPOSITORY: 'repos/acme/pets' },
  files: { 'changes.md': `${MARK}\n\n### No changes\n` },
  expected: { status: 0, stdout: call },
});

const failingComparison: Run = {
  step: ['changes.yml', 'diff', 'Compare with the base branch'],
  programs: { npm: `if [ "$2" = --silent ]; then exit 1; fi` },
  expected: {
    status: 1,
    calls: 'run synth\nrun --silent changes -- --app assembly --against cdk.out --markdown\n',
  },
};

describe('a pull request', () => {
  check({
    'gets a comment': comment(others, `POST ${COMMENTS}\n`),
    'gets its comment changed': comment(
      [...others, { id: 42, user: bot, body: `${MARK}\n\nOld` }],
      'PATCH repos/acme/pets/issues/comments/42\n',
    ),
    'from a fork fails as its comparison does': failingComparison,
  });
});

const audit = (step: Run['step'], auditExit: number, ACCEPTED: string, status: number, stdout: RegExp): Run => ({
  step,
  programs: { npm: `exit ${auditExit}` },
  env: { ACCEPTED },
  expected: { status, stdout: expect.stringMatching(stdout), calls: 'audit --audit-level=moderate\n' },
});

describe('the audit of the packages', () => {
  const inPullRequest = ['pull-request.yml', 'audit', 'Audit the packages'] as const;
  const inDeploy = ['deploy.yml', 'build', 'Audit the packages'] as const;

  check({
    'stops a pull request with a finding': audit(inPullRequest, 1, '', 1, /^$/),
    'prints why a finding is accepted': audit(inPullRequest, 1, 'No fix yet.', 0, /^::warning::.*: No fix yet\.\n$/),
    'warns of a finding in a deploy, which goes on': audit(
      inDeploy,
      1,
      '',
      0,
      /^::warning::.* The deploy goes on .*\n$/,
    ),
  });
});

/** A step of the job that deploys staging. */
const deploy = (name: string, programs: Texts, expected: Run['expected'], env: Texts = {}, files: Texts = {}): Run => ({
  step: ['deploy-stage.yml', 'deploy', name],
  programs,
  env: { STAGE: 'staging', BUILD: '200', ...env },
  files,
  expected,
});

const addressed = { 'outputs.json': '{"staging-Inventory":{"BaseUrl":"https://a.example/v1"}}' };
const smokeCall = 'run --silent smoke -- --url https://a.example/v1';

describe('the smoke test of a deploy', () => {
  check({
    'has a key for an hour, which is masked before anything else is written': deploy(
      'Issue a key for an hour',
      { npm: `echo '{"id":"k1","key":"psk_0123456789"}'` },
      {
        status: 0,
        stdout: '::add-mask::psk_0123456789\n',
        calls: 'run --silent admin -- keys create --stage staging --name smoke --plan free --expires 1h --json\n',
        output: 'id=k1\nkey=psk_0123456789\n',
      },
    ),
    'calls the address that was deployed': deploy(
      'Smoke test',
      { npm: '' },
      { status: 0, calls: `${smokeCall} --read-only\n` },
      { OPTIONS: '--read-only' },
      addressed,
    ),
    'has its key revoked by the id': deploy(
      'Revoke the key',
      { npm: '' },
      { status: 0, calls: 'run --silent admin -- keys revoke k1 --stage staging --yes\n' },
      { KEY_ID: 'k1' },
    ),
  });
});

const running = (OutputValue: string) =>
  `echo '${JSON.stringify({ Stacks: [{ Outputs: [{ OutputKey: 'RunningBuild', OutputValue }] }] })}'`;
const failing = (reason: string) => `echo '${reason}' >&2; exit 254`;
const look = (aws: string, output: string): Run =>
  deploy('Look which build runs', { aws }, { status: output === '' ? 1 : 0, output });

describe('the build that runs before a deploy', () => {
  check({
    'is what the stack says': look(running('100'), 'build=100\n'),
    'is none after a deploy by hand': look(running('none'), 'build=\n'),
    'is none where it is this one': look(running('200'), 'build=\n'),
    'is none before the first deploy': look(failing('Stack with id staging-Inventory does not exist'), 'build=\n'),
    'stops the deploy where it cannot be read': look(failing('AccessDenied'), ''),
  });
});

const cdkDeploy = (assembly: string, build: string) =>
  `cdk deploy --app ${assembly} staging/* --parameters staging-Inventory:BuildId=${build} --require-approval never`;

describe('a deploy', () => {
  check({
    'passes the build to the stack': deploy(
      'Deploy',
      { npx: '' },
      { status: 0, calls: `${cdkDeploy('cdk.out', '200')} --outputs-file outputs.json\n` },
      { ASSEMBLY: 'cdk.out' },
    ),
    'goes back after a failed smoke test, all at once': deploy(
      'Go back',
      { npx: '' },
      {
        status: 0,
        calls: `${cdkDeploy('before/all-at-once', '100')}\n`,
        stdout: '::error::The smoke test has failed. staging is back at build 100.\n',
      },
      { BEFORE: '100' },
    ),
    'fails where there is nothing to go back to': deploy(
      'Go back',
      { npx: '' },
      {
        status: 1,
        calls: '',
        stdout: '::error::The smoke test has failed. There is no build to go back to: 200 still runs on staging.\n',
      },
      { BEFORE: '' },
    ),
  });
});

const goBackTo = (RUN: string, found: string, status: number): Run => ({
  step: ['roll-back.yml', 'check', 'Check the run'],
  programs: { gh: `echo '${found}'` },
  env: { REPOSITORY: 'a/b', RUN },
  expected: { status, stdout: expect.stringMatching(status === 0 ? /^$/ : /^::error::/) },
});

describe('a roll-back by hand', () => {
  const deployed = '.github/workflows/deploy.yml push main';

  check({
    'goes to a deploy of main': goBackTo('100', deployed, 0),
    'refuses a run of a pull request': goBackTo('100', '.github/workflows/changes.yml pull_request main', 1),
    'refuses what is no number': goBackTo('100/../200', deployed, 1),
  });
});
