import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { jobs, scripts, scriptStep, steps, texts, workflow } from '../../support/workflows.ts';

test.each([...texts])(
  '%s uses actions by the hash of a version, has no stored secret, and gives strangers no token',
  (file, text) => {
    const uses = text.split('\n').filter((line) => /^\s*(?:- )?uses:/.test(line));

    expect(uses.length).toBeGreaterThan(0);
    for (const line of uses) {
      expect(line).toMatch(
        /uses: (?:\.\/\.github\/workflows\/[\w-]+\.yml|(?:[\w-]+\/[\w-]+@[0-9a-f]{40}|docker:\/\/[\w/-]+@sha256:[0-9a-f]{64}) # v\d+\.\d+\.\d+)$/,
      );
    }
    expect(text.replaceAll('secrets.GITHUB_TOKEN', '')).not.toMatch(/secrets[.[]|secrets:/);
    expect(['pull_request', 'push', 'schedule', 'workflow_call', 'workflow_dispatch']).toEqual(
      expect.arrayContaining(Object.keys(workflow(file).on)),
    );
  },
);

test.each(scripts)('The script of $at gets values by its environment, and runs what package.json has', ({ script }) => {
  const { scripts: known } = JSON.parse(readFileSync('package.json', 'utf8'));
  const used = [...script.matchAll(/npm run (?:--silent )?([\w:-]+)/g)].map(([, name]) => name);

  expect(script).not.toContain('${{');
  expect(Object.keys(known)).toEqual(expect.arrayContaining(used));
});

test('Packages run scripts while they are installed only where package.json allows it', () => {
  const { allowScripts } = JSON.parse(readFileSync('package.json', 'utf8'));
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
  const withScript = Object.keys(packages).filter((path) => packages[path].hasInstallScript === true);

  expect(readFileSync('.npmrc', 'utf8')).toMatch(/^strict-allow-scripts=true$/m);
  expect(withScript.length).toBeGreaterThan(0);
  for (const path of withScript) expect(allowScripts).toHaveProperty([path.replace(/^.*node_modules\//, '')]);
});

test('The workflows take the variables that docs/operating/pipeline.md asks for', () => {
  const taken = [...texts.values()].flatMap((text) => [...text.matchAll(/\bvars\.(\w+)/g)].map(([, name]) => name));
  const page = readFileSync('docs/operating/pipeline.md', 'utf8');
  const asked = [...page.matchAll(/^ *\| `(AWS_\w+)` /gm)].map(([, name]) => name);

  expect(new Set(asked)).toEqual(new Set(taken));
});

describe('the jobs', () => {
  test('end within an hour', () => {
    const endless = jobs.filter(({ job }) => !job.uses && !((job['timeout-minutes'] ?? Infinity) <= 60));

    expect(endless).toEqual([]);
  });

  test('may only read, but for those that sign in to AWS, and the comment on a pull request', () => {
    const writing = jobs.flatMap(({ at, job }) =>
      Object.entries(job.permissions).flatMap(([scope, access]) => (access === 'read' ? [] : [`${at}: ${scope}`])),
    );

    expect(writing.toSorted()).toEqual([
      'changes.yml: diff: id-token',
      'changes.yml: diff: pull-requests',
      'deploy-stage.yml: deploy: id-token',
      'deploy.yml: production: id-token',
      'deploy.yml: staging: id-token',
      'roll-back.yml: deploy: id-token',
    ]);
  });

  test('leave no token in a clone', () => {
    const clones = steps.filter(({ step: { uses = '' } }) => uses.startsWith('actions/checkout@'));

    expect(clones.length).toBeGreaterThan(5);
    for (const { step } of clones) expect(step.with).toMatchObject({ 'persist-credentials': false });
  });

  test('that have a token for AWS run no code of a pull request', () => {
    const { steps: [checkout, ...others] = [] } = workflow('changes.yml').jobs['diff'] ?? {};

    expect(checkout?.with).toMatchObject({ ref: '${{ github.event.pull_request.base.sha }}' });
    expect(others.filter(({ uses = '' }) => uses.startsWith('actions/checkout@'))).toEqual([]);
  });
});

describe('the way to production', () => {
  const { build, staging, production } = workflow('deploy.yml').jobs;
  const { deploy } = workflow('deploy-stage.yml').jobs;
  const all = deploy?.steps ?? [];
  const placeOf = (name: string) => all.findIndex((one) => one.name === name);

  test('goes over the tests, then staging, one deploy of a stage at a time; somebody may have to approve it', () => {
    expect(build?.steps.map(({ run }) => run)).toEqual(
      expect.arrayContaining([
        'npm test',
        'npm run synth',
        'npm run synth -- --context release=allAtOnce --output cdk.out/all-at-once',
      ]),
    );
    expect(build?.steps.map(({ with: { path } }) => path)).toContain('cdk.out');
    expect([staging, production]).toMatchObject([
      { needs: 'build', with: { stage: 'staging' } },
      { needs: 'staging', with: { stage: 'production', 'smoke-options': '--read-only' } },
    ]);
    expect(workflow('roll-back.yml').jobs['deploy']).toMatchObject({
      needs: 'check',
      with: { 'go-back-to': '${{ inputs.run }}' },
    });
    expect(deploy).toMatchObject({
      environment: '${{ inputs.stage }}',
      concurrency: { group: 'deploy-${{ inputs.stage }}', 'cancel-in-progress': false },
    });
  });

  test('deploys what was tested, without scripts of packages, tries it, and revokes the key whatever came of it', () => {
    const inOrder = ['Look which release runs', 'Deploy', 'Issue a key for an hour', 'Smoke test', 'Go back'];
    const download = all.findIndex(({ uses = '' }) => uses.startsWith('actions/download-artifact@'));
    const places = [download, ...[...inOrder, 'Revoke the key'].map(placeOf)];

    expect(download).toBeGreaterThan(0);
    expect(places).toEqual(places.toSorted((one, other) => one - other));
    expect(all.map(({ run = '' }) => run).filter((script) => /synth|npm ci(?! --ignore-scripts)/.test(script))).toEqual(
      [],
    );
    expect(scriptStep('deploy-stage.yml', 'deploy', 'Revoke the key').if).toMatch(/^always\(\)/);
  });

  test('goes back after a failed smoke test alone, and not from where somebody has gone back to', () => {
    const fetch = all[placeOf('Fetch the release before')];

    expect(fetch?.if).toBe(
      "failure() && steps.smoke.outcome == 'failure' && inputs.go-back-to == '' && steps.before.outputs.release != ''",
    );
    expect(fetch?.with).toMatchObject({ name: 'assembly', 'run-id': '${{ steps.before.outputs.release }}' });
    expect(scriptStep('deploy-stage.yml', 'deploy', 'Go back').if).toBe("always() && steps.smoke.outcome == 'failure'");
    expect(all.find(({ id }) => id === 'smoke')?.name).toBe('Smoke test');
  });
});
