import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import * as v from 'valibot';
import {
  jobs,
  jobSchema,
  scripts,
  scriptStep,
  type Step,
  steps,
  texts,
  workflow,
  workflows,
} from '../../support/workflows.ts';

const indexOf = (file: string, job: string, isIt: (one: Step) => boolean): number =>
  workflow(file).jobs[job]?.steps.findIndex(isIt) ?? -1;

describe('a workflow', () => {
  test.each([...texts])(
    '%s uses actions by the hash of their commit or image, with the version beside it',
    (_, text) => {
      const uses = text.split('\n').filter((line) => /^\s*(?:- )?uses:/.test(line));

      expect(uses.length).toBeGreaterThan(0);
      for (const line of uses) {
        expect(line).toMatch(
          /uses: (?:\.\/\.github\/workflows\/[\w-]+\.yml|(?:[\w-]+\/[\w-]+@[0-9a-f]{40}|docker:\/\/[\w/-]+@sha256:[0-9a-f]{64}) # v\d+\.\d+\.\d+)$/,
        );
      }
    },
  );

  test.each([...texts])('%s has no stored secret', (_, text) => {
    expect(text.replaceAll('secrets.GITHUB_TOKEN', '')).not.toMatch(/secrets[.[]|secrets:/);
  });

  test('uses an action in one version only', () => {
    const uses = new Set(steps.flatMap(({ step: { uses: action } }) => action ?? []));

    expect(new Set([...uses].map((action) => action.split('@')[0])).size).toBe(uses.size);
  });

  test.each([...texts.keys()])('%s is not one that gives pull requests of strangers a token', (file) => {
    const events = Object.keys(workflow(file).on);

    expect(['pull_request', 'push', 'schedule', 'workflow_call', 'workflow_dispatch']).toEqual(
      expect.arrayContaining(events),
    );
  });

  test.each(scripts)('puts nothing into the script of $at but by its environment', ({ script }) => {
    expect(script).not.toContain('${{');
  });

  test.each(scripts)('runs in $at only what package.json has', ({ script }) => {
    const { scripts: known } = v.parse(
      v.object({ scripts: v.record(v.string(), v.string()) }),
      JSON.parse(readFileSync('package.json', 'utf8')),
    );
    const used = [...script.matchAll(/npm run (?:--silent )?([\w:-]+)/g)].map(([, name]) => name ?? '');

    expect(Object.keys(known)).toEqual(expect.arrayContaining(used));
  });
});

test('The variables that the workflows take are those that docs/operating/pipeline.md asks for', () => {
  const taken = [...texts.values()].flatMap((text) => [...text.matchAll(/\bvars\.(\w+)/g)].map(([, name]) => name));
  const page = readFileSync('docs/operating/pipeline.md', 'utf8');
  const asked = [...page.matchAll(/^ *\| `(AWS_\w+)` /gm)].map(([, name]) => name);

  expect(new Set(asked)).toEqual(new Set(taken));
});

describe('a job', () => {
  test.each(jobs.filter(({ job }) => job.uses === undefined))('$at ends in time', ({ job }) => {
    expect(job['timeout-minutes']).toBeLessThanOrEqual(60);
  });

  test.each(jobs.filter(({ job }) => job.uses !== undefined))('$at calls one that is there', ({ job }) => {
    expect(workflows.has(path.basename(job.uses ?? ''))).toBe(true);
  });

  test.each(jobs)('$at may do no more than its work takes', ({ at, job }) => {
    const token = { 'id-token': 'write' };
    /** With which it gets the assembly of another run. */
    const deploying = { ...token, actions: 'read' };
    const further: Record<string, object> = {
      'changes.yml: diff': { ...token, 'pull-requests': 'write' },
      'deploy.yml: staging': deploying,
      'deploy.yml: production': deploying,
      'deploy-stage.yml: deploy': deploying,
      'roll-back.yml: check': { actions: 'read' },
      'roll-back.yml: deploy': deploying,
    };

    expect(job.permissions).toEqual({ contents: 'read', ...further[at] });
  });

  test.each(steps.filter(({ step: { uses = '' } }) => uses.startsWith('actions/checkout@')))(
    '$at does not leave its token in the clone',
    ({ step: { with: options } }) => {
      expect(options).toMatchObject({ 'persist-credentials': false });
    },
  );

  test('that has a token for AWS runs no code of a pull request', () => {
    const { steps: all } = v.parse(jobSchema, workflow('changes.yml').jobs['diff']);

    expect(all[0]?.with).toMatchObject({ ref: '${{ github.event.pull_request.base.sha }}' });
    expect(all.filter(({ uses = '' }) => uses.startsWith('actions/checkout@'))).toHaveLength(1);
  });
});

describe('the way to production', () => {
  const { jobs: all } = workflow('deploy.yml');

  test('goes over staging, whose smoke test must have passed', () => {
    expect(all['staging']).toMatchObject({ needs: 'build', uses: './.github/workflows/deploy-stage.yml' });
    expect(all['production']).toMatchObject({ needs: 'staging', uses: './.github/workflows/deploy-stage.yml' });
    expect(all['staging']?.with).toMatchObject({ stage: 'staging' });
    expect(all['production']?.with).toMatchObject({ stage: 'production', 'smoke-options': '--read-only' });
  });

  test('waits for whom the environment of the stage names, one deploy of a stage at a time', () => {
    expect(workflow('deploy-stage.yml').jobs['deploy']).toMatchObject({
      environment: '${{ inputs.stage }}',
      concurrency: { group: 'deploy-${{ inputs.stage }}', 'cancel-in-progress': false },
    });
  });

  const deploySteps = [
    'Look which release runs',
    'Deploy',
    'Issue a key for an hour',
    'Smoke test',
    'Fetch the release before',
    'Go back',
    'Revoke the key',
  ];

  test('deploys what was tested, tries it, and revokes the key whatever came of it', () => {
    const file = 'deploy-stage.yml';
    const at = (name: string) => indexOf(file, 'deploy', (one) => one.name === name);
    const download = indexOf(file, 'deploy', ({ uses = '' }) => uses.startsWith('actions/download-artifact@'));
    const order = [download, ...deploySteps.map(at)];

    expect(order).toEqual(order.toSorted((one, other) => one - other));
    expect(order[0]).toBeGreaterThan(0);
    expect(scriptStep(file, 'deploy', 'Revoke the key').if).toMatch(/^always\(\)/);
    expect(scripts.filter(({ at: job, script }) => job.startsWith(file) && /synth/.test(script))).toEqual([]);
  });

  test('begins with the tests and the audit, and keeps the assembly and the list of packages', () => {
    const { steps: build } = v.parse(jobSchema, all['build']);
    const ran = build.flatMap(({ run: script }) => script ?? []);
    const kept = build.flatMap(({ with: options }) => (options['path'] === undefined ? [] : [options['path']]));

    expect(ran).toEqual([
      'npm ci',
      'npm test',
      expect.stringMatching(/^npm audit /),
      'npm sbom --sbom-format=cyclonedx > sbom.cdx.json',
      'npm run synth',
      'npm run synth -- --context release=allAtOnce --output cdk.out/all-at-once',
    ]);
    expect(kept).toEqual(['sbom.cdx.json', 'cdk.out']);
  });
});

describe('a job that deploys', () => {
  const { steps: all } = v.parse(jobSchema, workflow('deploy-stage.yml').jobs['deploy']);

  test('runs nothing that packages bring with them to be installed', () => {
    expect(all.flatMap(({ run: script = '' }) => (script.startsWith('npm ci') ? [script] : []))).toEqual([
      'npm ci --ignore-scripts',
    ]);
  });

  test('goes back after a failed smoke test alone, and not from where somebody has gone back to', () => {
    const [fetch, goBack] = ['Fetch the release before', 'Go back'].map((name) => all.find((one) => one.name === name));

    expect(fetch?.if).toBe(
      "failure() && steps.smoke.outcome == 'failure' && inputs.go-back-to == '' && steps.before.outputs.release != ''",
    );
    expect(fetch?.with).toMatchObject({ name: 'assembly', 'run-id': '${{ steps.before.outputs.release }}' });
    expect(goBack?.if).toBe("always() && steps.smoke.outcome == 'failure'");
    expect(all.find(({ id }) => id === 'smoke')?.name).toBe('Smoke test');
  });

  test('takes the release of the run that somebody wants to go back to, once it is known to be one', () => {
    expect(workflow('roll-back.yml').jobs['deploy']).toMatchObject({
      needs: 'check',
      uses: './.github/workflows/deploy-stage.yml',
      with: { 'go-back-to': '${{ inputs.run }}' },
    });
  });
});
