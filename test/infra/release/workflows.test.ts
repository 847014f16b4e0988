import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { jobs, scripts, scriptStep, steps, texts, workflow } from '../../support/workflows.ts';

describe.each([...texts])('%s', (file, text) => {
  test('uses actions by the hash of their commit or image, with the version beside it', () => {
    const uses = text.split('\n').filter((line) => /^\s*(?:- )?uses:/.test(line));

    expect(uses.length).toBeGreaterThan(0);
    for (const line of uses) {
      expect(line).toMatch(
        /uses: (?:\.\/\.github\/workflows\/[\w-]+\.yml|(?:[\w-]+\/[\w-]+@[0-9a-f]{40}|docker:\/\/[\w/-]+@sha256:[0-9a-f]{64}) # v\d+\.\d+\.\d+)$/,
      );
    }
  });

  test('has no stored secret, and gives pull requests of strangers no token', () => {
    expect(text.replaceAll('secrets.GITHUB_TOKEN', '')).not.toMatch(/secrets[.[]|secrets:/);
    expect(['pull_request', 'push', 'schedule', 'workflow_call', 'workflow_dispatch']).toEqual(
      expect.arrayContaining(Object.keys(workflow(file).on)),
    );
  });
});

describe('the workflows', () => {
  test('use an action in one version only', () => {
    const uses = new Set(steps.flatMap(({ step: { uses: action } }) => action ?? []));

    expect(new Set([...uses].map((action) => action.split('@')[0])).size).toBe(uses.size);
  });

  test.each(scripts)(
    'put nothing into the script of $at but by its environment, and run what package.json has',
    (one) => {
      const { scripts: known } = JSON.parse(readFileSync('package.json', 'utf8'));
      const used = [...one.script.matchAll(/npm run (?:--silent )?([\w:-]+)/g)].map(([, name]) => name);

      expect(one.script).not.toContain('${{');
      expect(Object.keys(known)).toEqual(expect.arrayContaining(used));
    },
  );

  test('take the variables that docs/operating/pipeline.md asks for', () => {
    const taken = [...texts.values()].flatMap((text) => [...text.matchAll(/\bvars\.(\w+)/g)].map(([, name]) => name));
    const page = readFileSync('docs/operating/pipeline.md', 'utf8');
    const asked = [...page.matchAll(/^ *\| `(AWS_\w+)` /gm)].map(([, name]) => name);

    expect(new Set(asked)).toEqual(new Set(taken));
  });
});

describe('a job', () => {
  test.each(jobs)('$at ends in time, or calls a workflow that does', ({ job }) => {
    const called = job.uses === undefined ? [job] : Object.values(workflow(path.basename(job.uses)).jobs);

    for (const one of called) expect(one['timeout-minutes']).toBeLessThanOrEqual(60);
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
    const all = workflow('changes.yml').jobs['diff']?.steps ?? [];

    expect(all[0]?.with).toMatchObject({ ref: '${{ github.event.pull_request.base.sha }}' });
    expect(all.filter(({ uses = '' }) => uses.startsWith('actions/checkout@'))).toHaveLength(1);
  });
});

describe('the way to production', () => {
  const { build, staging, production } = workflow('deploy.yml').jobs;
  const { deploy } = workflow('deploy-stage.yml').jobs;
  const all = deploy?.steps ?? [];
  const stepNamed = (name: string) => all.find((one) => one.name === name);

  test('begins with the tests and the audit, and keeps the assembly and the list of packages', () => {
    expect(build?.steps.flatMap(({ run: script }) => script ?? [])).toEqual([
      'npm ci',
      'npm test',
      expect.stringMatching(/^npm audit /),
      'npm sbom --sbom-format=cyclonedx > sbom.cdx.json',
      'npm run synth',
      'npm run synth -- --context release=allAtOnce --output cdk.out/all-at-once',
    ]);
    expect(build?.steps.flatMap(({ with: { path: kept = [] } }) => kept)).toEqual(['sbom.cdx.json', 'cdk.out']);
  });

  test('goes over staging, whose smoke test must have passed', () => {
    const uses = './.github/workflows/deploy-stage.yml';

    expect(staging).toMatchObject({ needs: 'build', uses, with: { stage: 'staging' } });
    expect(production).toMatchObject({
      needs: 'staging',
      uses,
      with: { stage: 'production', 'smoke-options': '--read-only' },
    });
  });

  test('waits for whom the environment of the stage names, one deploy of a stage at a time', () => {
    expect(deploy).toMatchObject({
      environment: '${{ inputs.stage }}',
      concurrency: { group: 'deploy-${{ inputs.stage }}', 'cancel-in-progress': false },
    });
  });

  test('deploys what was tested, tries it, and revokes the key whatever came of it', () => {
    const download = all.findIndex(({ uses = '' }) => uses.startsWith('actions/download-artifact@'));
    const named = all.slice(download + 1).flatMap(({ name = [] }) => name);

    expect(download).toBeGreaterThan(0);
    expect(named.filter((name) => name !== 'Get access to AWS')).toEqual([
      'Look which release runs',
      'Deploy',
      'Issue a key for an hour',
      'Smoke test',
      'Fetch the release before',
      'Go back',
      'Revoke the key',
    ]);
    expect(stepNamed('Revoke the key')?.if).toMatch(/^always\(\)/);
    expect(scripts.filter(({ at, script }) => at.startsWith('deploy-stage.yml') && /synth/.test(script))).toEqual([]);
  });

  test('runs nothing where it deploys that packages bring with them to be installed', () => {
    expect(all.flatMap(({ run: script = '' }) => (script.startsWith('npm ci') ? [script] : []))).toEqual([
      'npm ci --ignore-scripts',
    ]);
  });

  test('goes back after a failed smoke test alone, and not from where somebody has gone back to', () => {
    const fetch = stepNamed('Fetch the release before');

    expect(fetch?.if).toBe(
      "failure() && steps.smoke.outcome == 'failure' && inputs.go-back-to == '' && steps.before.outputs.release != ''",
    );
    expect(fetch?.with).toMatchObject({ name: 'assembly', 'run-id': '${{ steps.before.outputs.release }}' });
    expect(scriptStep('deploy-stage.yml', 'deploy', 'Go back').if).toBe("always() && steps.smoke.outcome == 'failure'");
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
