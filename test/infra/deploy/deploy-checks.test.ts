import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { findBuild, refuseOlder, refuseUnknown } from '../../../infra/deploy/build.ts';
import { gapsOf, lostTables } from '../../../infra/deploy/deploy-stage.ts';
import { type Outcome, run } from '../../support/admin-command.ts';
import { describeWith } from '../../support/programs.ts';
import { inventoryTemplate, templateIn } from '../../support/service-template.ts';
import { synthesizedOnce } from '../../support/synthesize-once.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { account, environment } from './account.ts';

const repository = temporaryDirectory();

describeWith(['git'], 'The build of a stage', () => {
  test('A build is marked as changed if tracked files have changes; untracked files do not count', () => {
    const archive = findBuild(repository);
    expect(archive).toEqual({ build: 'none' });
    expect(() => refuseUnknown('production', archive)).not.toThrow();

    const git = (...words: string[]) => execFileSync('git', ['-C', repository, ...words]);
    git('init', '--quiet');
    writeFileSync(path.join(repository, 'tracked'), 'one');
    git('add', 'tracked');
    const author = ['-c', 'user.name=Ann', '-c', 'user.email=ann@example.com'];
    git(...author, 'commit', '--quiet', '--message', 'one');
    writeFileSync(path.join(repository, 'untracked'), '');
    const { build: commit } = findBuild(repository);
    expect(commit).toMatch(/^[0-9a-f]{40}$/);
    process.env['GIT_DIR'] = path.join(repository, 'of-a-hook');
    expect(findBuild(repository)).toEqual({ build: commit });
    delete process.env['GIT_DIR'];
    git(...author, 'commit', '--quiet', '--allow-empty', '--message', 'later');
    const { build: later } = findBuild(repository);
    for (const running of [commit, later, 'unknown']) refuseOlder('staging', running, repository);
    git('checkout', '--quiet', commit);
    expect(() => refuseOlder('staging', later, repository)).toThrow(/^staging runs \w{40}, which is newer/);
    refuseOlder('dev-ann', later, repository);

    writeFileSync(path.join(repository, 'tracked'), 'two');
    const changed = findBuild(repository);
    expect(changed).toEqual({ build: `${commit}-changed` });
    expect(() => refuseUnknown('production', changed)).toThrow(/^Tracked files have changes/);
    expect(() => refuseUnknown('dev-ann', changed)).not.toThrow();

    writeFileSync(path.join(repository, '.git/HEAD'), 'damaged');
    const unknown = findBuild(repository);
    expect(unknown).toMatchObject({ build: 'none' });
    expect(() => refuseUnknown('staging', unknown)).toThrow(
      /^Git cannot tell the commit \(.*fatal: .*\): staging must be/,
    );
    expect(() => refuseUnknown('dev-ann', unknown)).not.toThrow();
  });
});

test('A synthesized stage outputs its commit', () => {
  expect(templateIn(synthesizedOnce(), 'staging')['Outputs']).toMatchObject({
    RunningBuild: { Value: findBuild().build },
    PreviousBuild: { Value: 'unknown' },
  });
});

test('The pipeline lacks code owners until a team replaces @OWNER', () => {
  expect(gapsOf('production', '# Replace @OWNER\n/.github/ @acme/ops')).toEqual([]);
  expect(gapsOf('production', '# Owners\n/.github/ @OWNER')).toEqual([expect.stringContaining('CODEOWNERS')]);
});

/** A template with one table, whose key is of a type, and with attributes of indexes. */
const withKey = (AttributeType: string, ...indexed: object[]) => {
  const AttributeDefinitions = [...indexed, { AttributeName: 'id', AttributeType }];
  const Properties = { KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }], AttributeDefinitions };
  return { Resources: { Stock: { Type: 'AWS::DynamoDB::Table', Properties } } };
};

describe('A deployment loses a table', () => {
  test('if it is missing or has another key, whatever else is missing', () => {
    const [gone, changed] = ['TablesStock190D1C2E', 'TablesKeys6B5A3ABF'];
    const staging = inventoryTemplate('staging');
    const { [gone]: _, ...resources } = inventoryTemplate('staging').Resources;
    Object.assign(resources[changed]?.Properties ?? {}, { KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }] });

    expect(lostTables(staging, { Resources: resources }).toSorted()).toEqual([changed, gone]);
    expect(lostTables(inventoryTemplate('production'), staging)).toEqual([]);
  });

  test('if its key has another type, but not if it has other indexes', () => {
    const index = { AttributeName: 'status', AttributeType: 'S' };

    expect(lostTables(withKey('S'), withKey('S', index))).toEqual([]);
    expect(lostTables(withKey('S', index), withKey('S'))).toEqual([]);
    expect(lostTables(withKey('S', index), withKey('N', index))).toEqual(['Stock']);
  });
});

/** The CDK CLI with what has been synthesized, and an account that has the standard bootstrap. */
const cdk = (...words: string[]): Promise<Outcome> =>
  run('node_modules/.bin/cdk', [...words, '--app', synthesizedOnce()], environment());

test('npm run synth names the stacks whose templates the CDK can show', async () => {
  const [, words = ''] = /exec cdk (synth .*)"/.exec(readFileSync('package.json', 'utf8')) ?? [];
  const { stdout, stderr } = await cdk(...words.replaceAll("'", '').split(' '));

  expect(stdout + stderr).toMatch(/Supply a stack id \(\w+\/Inventory, \w+\/Inventory\) to display its template/);
});

/** The commands of the diff of a pull request, with what it compares: with production, and with another template. */
const changes = readFileSync('.github/workflows/changes.yml', 'utf8');
const diffs = [...changes.matchAll(/npx cdk (diff .*) > diff\.txt/g)].map(([, words = '']) => words);
const base = path.join(temporaryDirectory(), 'base.template.json');
const lookup = 'arn:aws:iam::111122223333:role/cdk-hnb659fds-lookup-role-111122223333-eu-west-1';

test.each([
  [0, [lookup]],
  [1, []],
])(
  'cdk diff shows the changes of a pull request, with only the lookup role of the bootstrap: %i',
  async (at, assumed) => {
    const table = 'TablesRequests3CA232D6';
    const { [table]: _, ...deployed } = inventoryTemplate('production').Resources;
    account.stacks = { 'production-Inventory': 'UPDATE_COMPLETE' };
    account.template = { Resources: deployed };
    writeFileSync(base, JSON.stringify(account.template));
    const words = (diffs[at] ?? '')
      .replace(' --app assembly', '')
      .replace(/cdk\.out\S+/, base)
      .replaceAll("'", '');
    const { exitCode, stdout } = await cdk(...words.split(' '));

    expect(exitCode).toBe(0);
    expect(stdout).toMatch(new RegExp(String.raw`\[\+\] AWS::DynamoDB::Table \S+ ${table}`));
    expect(stdout).toContain('Number of stacks with differences: 1');
    expect([...new Set(account.assumed)]).toEqual(assumed);
  },
);
