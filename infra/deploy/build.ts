import { execFileSync } from 'node:child_process';
import { AdminError } from '../admin/service/failures.ts';
import { type AnyStageName, isPersonal } from '../stages.ts';

/** Suffix of a build that is not a commit, so a rollback to it is impossible. */
const CHANGED = '-changed';

/**
 * The checked out commit, marked if tracked files differ from it; `none` outside a Git repository.
 *
 * @param directory in the work tree
 */
export function checkedOutBuild(directory = import.meta.dirname): string {
  // In a hook, Git's variables point to the repository of the hook.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_')));
  const git = (...words: string[]): string =>
    execFileSync('git', ['-C', directory, ...words], { encoding: 'utf8', env, stdio: 'pipe' }).trim();
  try {
    const commit = git('rev-parse', 'HEAD');
    return git('status', '--porcelain', '-uno') === '' ? commit : commit + CHANGED;
  } catch {
    return 'none';
  }
}

/** @throws AdminError if a stage that may need a rollback would be deployed with uncommitted changes */
export function refuseChanges(stage: AnyStageName, build: string): void {
  if (isPersonal(stage) || !build.endsWith(CHANGED)) return;
  const why = `${stage} must be deployed from a commit, to allow a rollback`;
  throw new AdminError(`Tracked files have changes (git status): ${why}. Nothing was deployed.`);
}
