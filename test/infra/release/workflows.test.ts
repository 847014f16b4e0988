import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { jobs, scripts, scriptStep, steps, texts, workflow } from '../../support/workflows.ts';

/** An action by the hash of a version, an image by its digest, or a workflow of ours. */
const PINNED =
  /uses: (?:\.\/\.github\/workflows\/[\w-]+\.yml|(?:[\w-]+\/[\w-]+@[0-9a-f]{40}|docker:\/\/[\w/-]+@sha256:[0-9a-f]{64}) # v\d+\.\d+\.\d+)$/;

test.each([...texts])('%s pins what it uses, has no stored secret, and gives strangers no token', (file, text) => {
  const uses = text.split('\n').filter((line) => /^\s*(?:- )?uses:/.test(line));

  expect(uses).not.toEqual([]);
  for (const line of uses) expect(line).toMatch(PINNED);
  expect(text).not.toMatch(/secrets[.[]|secrets:/);
  expect(['pull_request', 'push', 'schedule', 'workflow_call', 'workflow_dispatch']).toEqual(
    expect.arrayContaining(Object.keys(workflow(file).on)),
  );
});

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
  expect(withScript).not.toEqual([]);
  for (const path of withScript) expect(allowScripts).toHaveProperty([path.replace(/^.*node_modules\//, '')]);
});

describe('the jobs', () => {
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
      'roll-back.yml: check: actions',
      'roll-back.yml: deploy: id-token',
    ]);
  });

  test('leave no token in a clone, and run no code of a pull request with a token for AWS', () => {
    const clones = steps.filter(({ step: { uses = '' } }) => uses.startsWith('actions/checkout@'));
    const ofDiff = clones.filter(({ at }) => at === 'changes.yml: diff').map(({ step }) => step.with);

    for (const { step } of clones) expect(step.with).toMatchObject({ 'persist-credentials': false });
    expect(ofDiff).toMatchObject([{ ref: '${{ github.event.pull_request.base.sha }}' }]);
  });
});

describe('the way to production', () => {
  const { build, staging, production } = workflow('deploy.yml').jobs;
  const { deploy } = workflow('deploy-stage.yml').jobs;
  const all = deploy?.steps ?? [];
  const stepNamed = (name: string) => all.find((one) => one.name === name);

  test('leads from the tests to staging, and from there to production, one deploy of a stage at a time', () => {
    const scriptsOfBuild = build?.steps.map(({ run }) => run).join('\n');
    for (const command of [
      'npm test',
      'npm run synth',
      'npm run synth -- --context rollout=allAtOnce --output cdk.out/all-at-once',
    ]) {
      expect(scriptsOfBuild).toContain(`${command}\n`);
    }
    expect(build?.steps.map(({ with: { path } }) => path)).toContain('cdk.out');
    const lose = '${{ inputs.lose }}';
    expect([staging, production]).toMatchObject([
      { needs: 'build', with: { stage: 'staging', lose } },
      { needs: 'staging', with: { stage: 'production', 'smoke-options': '--read-only', lose } },
    ]);
    expect(workflow('roll-back.yml').jobs['deploy']).toMatchObject({
      needs: 'check',
      with: { 'go-back-to': '${{ inputs.run }}', lose, orphan: '${{ inputs.orphan }}' },
    });
    expect(deploy).toMatchObject({
      environment: '${{ inputs.stage }}',
      concurrency: { group: 'deploy-${{ inputs.stage }}', 'cancel-in-progress': false },
    });
  });

  const folder = temporaryFolder();

  test('brings the smoke test of the build as one file, which needs no packages', () => {
    const file = join(folder, 'smoke.mjs');
    const { run } = scriptStep('deploy.yml', 'build', 'Bundle the smoke test');
    spawnSync('bash', ['-c', run.replace('cdk.out/smoke.mjs', file)]);

    expect(run).toContain('--outfile=cdk.out/smoke.mjs');
    expect(spawnSync(process.execPath, [file], { encoding: 'utf8' }).stderr).toMatch(/^required option '--url <url>'/);
  });

  test('deploys what was tested, tries it, and revokes the key whatever came of it', () => {
    const inOrder = [
      'Settle the stacks',
      'Look which build runs',
      'Refuse to lose a table',
      'Deploy',
      'Find the address',
      'Issue a key for an hour',
      'Smoke test',
      'Fetch the build before',
      'Go back',
      'Smoke test of the build before',
      'Revoke the key',
    ];
    const download = all.findIndex(({ uses = '' }) => uses.startsWith('actions/download-artifact@'));
    const places = [download, ...inOrder.map((name) => all.findIndex((s) => s.name === name))];

    expect(download).toBeGreaterThan(0);
    expect(places).toEqual(places.toSorted((one, other) => one - other));
    expect(all.filter(({ run = '' }) => /synth|npm ci(?! --ignore-scripts)/.test(run))).toEqual([]);
    expect(stepNamed('Revoke the key')?.if).toMatch(/^always\(\)/);
    expect(stepNamed('Smoke test')).toMatchObject({
      id: 'smoke',
      env: { PET_STORE_API_KEY: '${{ steps.key.outputs.key }}' },
    });
  });

  test('goes back after a failed smoke test alone, and not from where an admin has gone back to', () => {
    expect(stepNamed('Fetch the build before')).toMatchObject({
      if: "failure() && steps.key.outcome == 'success' && inputs.go-back-to == '' && steps.before.outputs.build != ''",
      with: { name: 'assembly', 'run-id': '${{ steps.before.outputs.build }}' },
    });
    expect(stepNamed('Go back')).toMatchObject({
      if: "failure() && steps.smoke.outcome == 'failure'",
      env: { BEFORE: "${{ steps.fetch.outcome == 'success' && steps.before.outputs.build || '' }}" },
    });
  });

  test('tries the release that runs: also where CloudFormation, or the job, has gone back to it', () => {
    expect(stepNamed('Find the address')?.if).toBe(
      "success() || failure() && steps.deploy.outcome == 'failure' && steps.before.outputs.build != ''",
    );
    expect(stepNamed('Smoke test of the build before')?.if).toBe(
      "failure() && steps.fetch.outcome == 'success' && steps.back.outcome != 'failure'",
    );
    expect(['Smoke test', 'Smoke test of the build before'].map((name) => stepNamed(name)?.run)).toEqual([
      expect.stringContaining('node cdk.out/smoke.mjs '),
      expect.stringContaining('node before/smoke.mjs '),
    ]);
  });
});
