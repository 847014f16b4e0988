import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { AdminError, reasonOf } from '../failures.ts';
import { type AnyStageName, isPersonal } from '../stages.ts';

/** Suffix of a build that is not a commit, so a rollback to it is impossible. */
const CHANGED = '-changed';

/** In a hook, Git's variables point to the repository of the hook. */
const withoutHook = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_')));

/** The checked out commit, marked if tracked files differ from it; `none` outside a Git repository. */
export function findBuild(directory = import.meta.dirname): { readonly build: string; readonly failure?: string } {
  const env = withoutHook();
  const git = (...words: string[]): string =>
    execFileSync('git', ['-C', directory, ...words], { encoding: 'utf8', env, stdio: 'pipe' }).trim();
  try {
    const commit = git('rev-parse', 'HEAD');
    return { build: git('status', '--porcelain', '-uno') === '' ? commit : commit + CHANGED };
  } catch (error) {
    return { build: 'none', ...(isInRepository(directory) && { failure: reasonOf(error) }) };
  }
}

const isInRepository = (directory: string): boolean =>
  existsSync(join(directory, '.git')) || (dirname(directory) !== directory && isInRepository(dirname(directory)));

/** @throws AdminError if a stage that may need a rollback would be deployed from no known commit */
export function refuseUnknown(stage: AnyStageName, { build, failure } = findBuild()): void {
  if (isPersonal(stage)) return;
  const why = `${stage} must be deployed from a commit, to allow a rollback. Nothing was deployed.`;
  if (failure !== undefined) throw new AdminError(`Git cannot tell the commit (${failure}): ${why}`);
  if (build.endsWith(CHANGED)) throw new AdminError(`Tracked files have changes (git status): ${why}`);
}

/** @throws AdminError if the stage runs a later commit than the checked out one, as when a job is late */
export function refuseOlder(stage: AnyStageName, running: string, directory = import.meta.dirname): void {
  if (isPersonal(stage) || running === findBuild(directory).build) return;
  const words = ['-C', directory, 'merge-base', '--is-ancestor', 'HEAD', running];
  if (spawnSync('git', words, { env: withoutHook() }).status === 0)
    throw new AdminError(
      `${stage} runs ${running}, which is newer. Nothing was deployed. To go back, add --roll-back.`,
    );
}
