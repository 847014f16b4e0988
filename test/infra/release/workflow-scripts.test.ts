import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { scripts, scriptStep } from './workflows.ts';

type Texts = Readonly<Record<string, string>>;

/** A script of a workflow as GitHub runs it. */
interface Run {
  readonly script: string;
  /** Programs that stand in for others, as Bash; each notes its arguments in `calls`. */
  readonly programs: Texts;
  readonly env?: object;
  readonly files?: Texts;
}

const directory = temporaryDirectory();

function outcomeOf({ script, programs, env = {}, files = {} }: Run) {
  const cwd = mkdtempSync(path.join(directory, 'step-'));
  const bin = path.join(cwd, 'bin');
  mkdirSync(bin);
  for (const [name, text] of Object.entries(programs)) {
    writeFileSync(path.join(bin, name), `#!/usr/bin/env bash\necho "$*" >> calls\n${text}\n`);
    chmodSync(path.join(bin, name), 0o755);
  }
  for (const [name, text] of Object.entries({ calls: '', output: '', summary: '', ...files }))
    writeFileSync(path.join(cwd, name), text);
  const { status, stdout } = spawnSync('bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', script], {
    cwd,
    encoding: 'utf8',
    env: {
      ...process.env,
      GITHUB_OUTPUT: 'output',
      GITHUB_STEP_SUMMARY: 'summary',
      ...env,
      PATH: `${bin}:${process.env.PATH}`,
    },
  });
  const read = (name: string) => readFileSync(path.join(cwd, name), 'utf8');
  return { status, stdout, calls: read('calls'), output: read('output'), summary: read('summary') };
}

interface Case extends Run {
  readonly expected: { readonly status: number; readonly calls?: string; readonly output?: string };
}

const check = (cases: Readonly<Record<string, Case>>): void =>
  test.each(Object.entries(cases))('%s', (_, run) => expect(outcomeOf(run)).toMatchObject(run.expected));

test('The job summary shows the diff of a pull request, which cannot end its code block', () => {
  const { run: script } = scriptStep('changes.yml', 'diff', 'Show in the summary');
  const run: Run = { script, programs: {}, files: { 'diff.txt': '[+] Resource `````` end\n' } };

  expect(outcomeOf(run)).toMatchObject({ summary: "``````diff\n[+] Resource '''''' end\n``````\n" });
});

test.each([
  ['stops a pull request with a finding', 'pull-request.yml', 'audit', '', 1, /^$/],
  [
    'prints why a finding is accepted',
    'pull-request.yml',
    'audit',
    'No fix yet.',
    0,
    /^::warning::.*: No fix yet\.\n$/,
  ],
  ['only warns of a finding in a deploy', 'deploy.yml', 'test', '', 0, /^::warning::.* The deploy goes on /],
])('The audit of the packages %s', (_, file, job, ACCEPTED, status, stdout) => {
  const run: Run = {
    script: scriptStep(file, job, 'Audit the packages').run,
    programs: { npm: 'exit 1' },
    env: { ACCEPTED },
  };

  expect(outcomeOf(run)).toMatchObject({ status, stdout: expect.stringMatching(stdout) });
});

/** Commits are on main in the order of their names. */
const [old, running, newer] = ['a1', 'b2', 'c3'];
const git = `if [ "$1" = rev-parse ]; then echo "$HEAD"; exit; fi
  case $4 in origin/main) last=zz ;; *) last=$4 ;; esac
  case $3 in HEAD) first=$HEAD ;; *) first=$3 ;; esac
  if [ "$1" = merge-base ]; then [[ $first-$last =~ ^[a-z][0-9]-(zz|[a-z][0-9])$ && ! $first > $last ]]; fi`;

const look = (HEAD: string, aws: string, status: number, output: string, ROLL_BACK = ''): Case => ({
  script: scriptStep('deploy-stage.yml', 'deploy', 'Look which commit runs').run,
  programs: { git, aws },
  env: { STAGE: 'staging', HEAD, ROLL_BACK },
  expected: { status, output },
});
const responses = `echo ${running}`;

describe('the lookup of the running commit', () => {
  check({
    'returns the commit of the stack': look(newer, responses, 0, `commit=${running}\n`),
    'returns none if it is the commit to deploy': look(running, responses, 0, ''),
    'returns none before the first deploy': look(newer, "echo 'Stack with id s does not exist' >&2; exit 254", 0, ''),
    'returns none if the running build is not a commit': look(newer, 'echo none', 0, ''),
    'stops the deploy if the stack cannot be read': look(newer, "echo 'AccessDenied' >&2; exit 254", 1, ''),
    'stops a deploy of an older commit': look(old, responses, 1, ''),
    'does not stop a rollback to an older commit': look(old, responses, 0, `commit=${running}\n`, '--roll-back'),
  });
});

const deployStep = (name: string, env: object, expected: Case['expected']): Case => ({
  script: scriptStep('deploy-stage.yml', 'deploy', name).run,
  programs: { git, npm: 'if [ "$1" = run ]; then exit "${DEPLOY:-0}"; fi' },
  env: { STAGE: 'staging', ROLL_BACK: '', LOSE: '', ...env },
  expected,
});
const deployed = 'run deploy -- --stage staging';

describe('a deploy in the pipeline', () => {
  check({
    'runs the command of a manual deploy': deployStep('Deploy', {}, { status: 0, calls: `${deployed}\n` }),
    'passes on a rollback and the tables to lose': deployStep(
      'Deploy',
      { ROLL_BACK: '--roll-back', LOSE: 'A B' },
      { status: 0, calls: `${deployed} --roll-back --lose A B\n` },
    ),
    'outputs the status of a failure': deployStep('Deploy', { DEPLOY: '3' }, { status: 3, output: 'status=3\n' }),
    'rolls back with the command of the previous commit': deployStep(
      'Go back',
      { BEFORE: running },
      { status: 0, calls: `checkout --quiet ${running}\nci --ignore-scripts\n${deployed} --roll-back\n` },
    ),
  });
});

describe('the commit of a rollback', () => {
  const cwd = mkdtempSync(path.join(directory, 'clone-'));
  const inClone = (...words: readonly string[]): string =>
    execFileSync('git', ['-c', 'user.name=Ann', '-c', 'user.email=ann@example.com', ...words], {
      cwd,
      encoding: 'utf8',
    }).trim();
  const commit = (message: string): string => {
    inClone('commit', '--quiet', '--allow-empty', '--message', message);
    return inClone('rev-parse', 'HEAD');
  };
  inClone('init', '--quiet');
  const onMain = commit('On main');
  inClone('update-ref', 'refs/remotes/origin/main', commit('Newer'));
  const onBranch = commit('On a branch');

  const resolve = (COMMIT: string, status: number, output: string): Case => ({
    script: scriptStep('roll-back.yml', 'check', 'Resolve the commit').run,
    programs: {},
    env: { COMMIT, GIT_DIR: path.join(cwd, '.git') },
    expected: { status, output },
  });
  check({
    'is accepted if it is on main': resolve(onMain, 0, `commit=${onMain}\n`),
    'may be abbreviated': resolve(onMain.slice(0, 7), 0, `commit=${onMain}\n`),
    'is rejected if it is only on a branch': resolve(onBranch, 1, ''),
    'is rejected if it does not exist': resolve('0000000', 1, ''),
    'is rejected if it looks like an option': resolve('--help', 1, ''),
    'is rejected if it is empty': resolve('', 1, ''),
  });
});

const compare = (ROLE: string, npx: string, gitStatus: number, status: number, calls: string): Case => ({
  script: scriptStep('changes.yml', 'diff', 'Compare with what production was deployed from, or with the base branch')
    .run,
  programs: { npx, npm: '', git: `exit ${gitStatus}` },
  env: { ROLE },
  expected: { status, calls },
});
const read = 'cdk diff --app assembly --method template --ci production/*\n';
const ofBase =
  'run synth\ndiff --no-index --stat --patch -- cdk.out/assembly-production assembly/assembly-production\n';
const tooOld = "echo '(Cloud assembly schema version mismatch: Maximum schema version …)' >&2; exit 1";

describe('the diff of a pull request', () => {
  check({
    'compares with production': compare('arn', '', 0, 0, read),
    'compares with the base branch if there is no role': compare('', '', 1, 0, ofBase),
    'compares with the base branch if its CLI cannot read the assembly': compare('arn', tooOld, 1, 0, read + ofBase),
    'fails if production cannot be read': compare('arn', "echo 'AccessDenied' >&2; exit 1", 0, 1, read),
  });

  test('warns if the CLI of the base branch cannot read the assembly', () => {
    expect(outcomeOf(compare('arn', tooOld, 0, 0, '')).stdout).toMatch(
      /^::warning::The CDK CLI of the base branch cannot/,
    );
  });
});

test.each(scripts.filter(({ script }) => script.includes('git ')))(
  'The script of $at, $name, fails if git fails, and then deploys nothing',
  ({ script }) => {
    const programs = { git: 'exit 128', npm: '', npx: '', aws: responses };
    const { status, calls } = outcomeOf({ script, programs, env: { STAGE: 'staging', ROLL_BACK: '' } });

    expect(status).not.toBe(0);
    expect(calls).not.toContain('run deploy');
  },
);
