import { execFileSync } from 'node:child_process';
import { AdminError } from '../admin/admin-error.ts';
import { type AnyStageName, isPersonal } from '../stages.ts';

/** What a build ends with that no commit has: nothing goes back to it. */
const CHANGED = '-changed';

/**
 * The commit that is checked out, marked where tracked files differ from it; `none` outside a repository of Git.
 *
 * @param folder in the work tree
 */
export function checkedOutBuild(directory = import.meta.dirname): string {
  const git = (...words: string[]): string =>
    execFileSync('git', ['-C', directory, ...words], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  try {
    const commit = git('rev-parse', 'HEAD');
    return git('status', '--porcelain', '-uno') === '' ? commit : commit + CHANGED;
  } catch {
    return 'none';
  }
}

/** @throws AdminError where a stage that may have to come back would be deployed from more than a commit */
export function refuseChanges(stage: AnyStageName, build: string): void {
  if (isPersonal(stage) || !build.endsWith(CHANGED)) return;
  const why = `${stage} is deployed from a commit alone, which it can go back to`;
  throw new AdminError(`Tracked files have changes (git status): ${why}. Nothing had begun.`);
}
