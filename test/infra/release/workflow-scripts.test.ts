import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { fakeProgram } from '../../support/fake-program.ts';
import { describeWith, missingPrograms } from '../../support/programs.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { workflow } from './workflows.ts';

const programs = ['bash', 'git'];
const hasGit = missingPrograms('git').length === 0;

/** A clone with two commits of main and one of a branch; git is the real one. */
const clone = mkdtempSync(path.join(temporaryDirectory(), 'clone-'));
const git = (...words: readonly string[]): string => {
  if (!hasGit) return '';
  const author = ['-c', 'user.name=Ann', '-c', 'user.email=ann@example.com'];
  return execFileSync('git', [...author, ...words], { cwd: clone, encoding: 'utf8' }).trim();
};
function commit(message: string): string {
  git('commit', '--quiet', '--allow-empty', '--message', message);
  return git('rev-parse', 'HEAD');
}
git('init', '--quiet');
const older = commit('Older');
const newer = commit('Newer');
git('update-ref', 'refs/remotes/origin/main', newer);
const onBranch = commit('On a branch');

const bin = path.join(clone, 'bin');
mkdirSync(bin);
beforeEach(() => {
  for (const name of ['calls', 'output', 'summary']) writeFileSync(path.join(clone, name), '');
});

/** Puts a program in the place of another, as Bash, which also writes down its arguments. */
function fake(name: string, script = ''): void {
  fakeProgram(bin, name, `echo "$*" >> calls\n${script}`, '/usr/bin/env bash');
}

/** Runs a step of a workflow as GitHub does. */
function runStep(file: string, job: string, name: string, env: object = {}) {
  const script = workflow(file).jobs[job]?.steps.find((step) => step.name === name)?.run;
  if (script === undefined) throw new Error(`There is no script “${name}” in the job ${job} of ${file}`);
  const ofGitHub = { GITHUB_OUTPUT: 'output', GITHUB_STEP_SUMMARY: 'summary' };
  const inputs = { STAGE: 'staging', ROLL_BACK: '', LOSE: '', ...env };
  const { status, stdout } = spawnSync('bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', script], {
    cwd: clone,
    encoding: 'utf8',
    env: { ...process.env, ...ofGitHub, ...inputs, PATH: `${bin}:${process.env.PATH}` },
  });
  const [calls, output, summary] = ['calls', 'output', 'summary'].map((written) =>
    readFileSync(path.join(clone, written), 'utf8'),
  );
  return { status, stdout, calls, output, summary };
}

describeWith(programs, 'The scripts of the workflows', () => {
  test('The summary of a pull request shows its diff, which cannot end the code block', () => {
    writeFileSync(path.join(clone, 'diff.txt'), '[+] Resource `````` end\n');

    expect(runStep('changes.yml', 'diff', 'Show in the summary').summary).toBe(
      "``````diff\n[+] Resource '''''' end\n``````\n",
    );
  });

  test.each([
    ['stops a pull request', 'pull-request.yml', 'audit', '', 1, /^$/],
    ['is reported if accepted', 'pull-request.yml', 'audit', 'No fix yet.', 0, /^::warning::.*: No fix yet\.\n$/],
    ['is reported in a deploy', 'deploy.yml', 'test', '', 0, /^::warning::.* The deploy goes on /],
  ])('A vulnerability of a package %s', (_, file, job, ACCEPTED, status, stdout) => {
    fake('npm', 'exit 1');

    expect(runStep(file, job, 'Audit the packages', { ACCEPTED })).toMatchObject({
      status,
      stdout: expect.stringMatching(stdout),
    });
  });

  test.each<[what: string, head: string, aws: string, status: number, output: string, rollBack?: string]>([
    ['returns the commit of the stack', newer, `echo ${older}`, 0, `commit=${older}\n`],
    ['returns none if it is the commit to deploy', newer, `echo ${newer}`, 0, ''],
    ['returns none before the first deploy', newer, "echo 'Stack with id s does not exist' >&2; exit 254", 0, ''],
    ['returns none if the running build is not a commit', newer, 'echo none', 0, ''],
    ['stops the deploy if the stack cannot be read', newer, "echo 'AccessDenied' >&2; exit 254", 1, ''],
    ['stops a deploy of an older commit', older, `echo ${newer}`, 1, ''],
    ['does not stop a rollback to an older commit', older, `echo ${newer}`, 0, `commit=${newer}\n`, '--roll-back'],
  ])('The lookup of the running commit %s', (_, head, aws, status, output, ROLL_BACK = '') => {
    git('checkout', '--quiet', head);
    fake('aws', aws);

    expect(runStep('deploy-stage.yml', 'deploy', 'Look which commit runs', { ROLL_BACK })).toMatchObject({
      status,
      output,
    });
  });

  describe('A deploy in the pipeline', () => {
    const deployed = 'run deploy -- --stage staging';

    test.each([
      [
        'passes on its inputs',
        { ROLL_BACK: '--roll-back', LOSE: 'A B' },
        { calls: `${deployed} --roll-back --allow-table-loss A B\n` },
      ],
      ['outputs its status if it fails', { STATUS: '3' }, { status: 3, calls: `${deployed}\n`, output: 'status=3\n' }],
    ])('%s', (_, env, expected) => {
      fake('npm', 'exit "${STATUS:-0}"');

      expect(runStep('deploy-stage.yml', 'deploy', 'Deploy', env)).toMatchObject(expected);
    });

    test('rolls back with the command of the previous commit, and not with another one', () => {
      fake('npm');
      git('checkout', '--quiet', newer);
      const [missing, back] = ['0000000', older].map((BEFORE) =>
        runStep('deploy-stage.yml', 'deploy', 'Go back', { BEFORE }),
      );

      expect(missing).toMatchObject({ status: 1, calls: '' });
      expect(back).toMatchObject({ status: 0, calls: `ci --ignore-scripts\n${deployed} --roll-back\n` });
      expect(git('rev-parse', 'HEAD')).toBe(older);
    });
  });

  test.each([
    ['of main is accepted', newer, 0, `commit=${newer}\n`],
    ['may be abbreviated', older.slice(0, 7), 0, `commit=${older}\n`],
    ['of a branch is rejected', onBranch, 1, ''],
    ['that does not exist is rejected', '0000000', 1, ''],
    ['that looks like an option is rejected', '--help', 1, ''],
    ['that is empty is rejected', '', 1, ''],
  ])('For a rollback, a commit %s', (_, COMMIT, status, output) => {
    expect(runStep('roll-back.yml', 'check', 'Resolve the commit', { COMMIT })).toMatchObject({ status, output });
  });

  describe('The diff of a pull request', () => {
    const name = 'Compare with what production was deployed from, or with the base branch';
    const read = 'cdk diff --app assembly --method template --ci production/*\n';
    const ofBase = 'run synth\n';
    const denied = "echo 'AccessDenied' >&2; exit 1";
    const tooOld = "echo '(Cloud assembly schema version mismatch: Maximum schema version …)' >&2; exit 1";

    beforeEach(() => {
      for (const directory of ['cdk.out/assembly-production', 'assembly/assembly-production']) {
        mkdirSync(path.join(clone, directory), { recursive: true });
        writeFileSync(path.join(clone, directory, 'template'), directory);
      }
      fake('npm');
    });

    test.each([
      ['compares with production', 'arn', 'echo of production', 0, read, /^of production\n$/],
      ['compares with the base branch if there is no role', '', '', 0, ofBase, /^-cdk\.out[^]*^\+assembly/m],
      ['warns if the CDK CLI is too old for it', 'arn', tooOld, 0, read + ofBase, /^-cdk\.out[^]*^::warning::The CDK/m],
      ['fails if production cannot be read', 'arn', denied, 1, read, /^$/],
    ])('%s', (_, ROLE, npx, status, calls, shown) => {
      fake('npx', npx);

      const { stdout, ...outcome } = runStep('changes.yml', 'diff', name, { ROLE });
      expect(outcome).toMatchObject({ status, calls });
      expect(readFileSync(path.join(clone, 'diff.txt'), 'utf8') + stdout).toMatch(shown);
    });

    test('fails if git fails', () => {
      fake('git', 'exit 128');
      const { status } = runStep('changes.yml', 'diff', name);
      rmSync(path.join(bin, 'git'));

      expect(status).toBe(1);
    });
  });
});
