import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { findBuild, refuseOlder, refuseUnknown } from '../../../infra/deploy/build.ts';
import { gapsOf, lostTables } from '../../../infra/deploy/deploy-stage.ts';
import { describeWith } from '../../support/programs.ts';
import { inventoryTemplate, templateIn } from '../../support/service-template.ts';
import { synthesizedOnce } from '../../support/synthesize-once.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

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
