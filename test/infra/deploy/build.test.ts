import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { checkedOutBuild, refuseChanges } from '../../../infra/deploy/build.ts';
import { templateIn } from '../../support/service-template.ts';
import { synthesizedOnce } from '../../support/synthesize-once.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const repository = temporaryDirectory();

test('A build with changes to tracked files is marked as changed; untracked files do not count', () => {
  expect(checkedOutBuild(repository)).toBe('none');

  const git = (...words: string[]) => execFileSync('git', ['-C', repository, ...words]);
  git('init', '--quiet');
  writeFileSync(path.join(repository, 'tracked'), 'one');
  git('add', 'tracked');
  git('-c', 'user.name=Ann', '-c', 'user.email=ann@example.com', 'commit', '--quiet', '--message', 'one');
  writeFileSync(path.join(repository, 'untracked'), '');
  const commit = checkedOutBuild(repository);
  expect(commit).toMatch(/^[0-9a-f]{40}$/);

  writeFileSync(path.join(repository, 'tracked'), 'two');
  const changed = checkedOutBuild(repository);
  expect(changed).toBe(`${commit}-changed`);
  expect(() => refuseChanges('production', changed)).toThrow(/^Tracked files have changes/);
  expect(() => refuseChanges('dev-ann', changed)).not.toThrow();
});

test('A synthesized stage outputs its commit', () => {
  expect(templateIn(synthesizedOnce(), 'staging')['Outputs']).toMatchObject({
    RunningBuild: { Value: checkedOutBuild() },
    PreviousBuild: { Value: 'unknown' },
  });
});
