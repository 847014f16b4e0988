import { spawnSync } from 'node:child_process';
import { describe } from '@jest/globals';

/** @returns those that are not on the PATH */
export const missingPrograms = (...programs: readonly string[]): string[] =>
  programs.filter((program) => spawnSync(program, ['--version'], { stdio: 'ignore' }).error !== undefined);

/** Tests that start programs of the machine; skipped, with a word about it, if one is missing. */
export function describeWith(programs: readonly string[], name: string, tests: () => void): void {
  const missing = missingPrograms(...programs);
  if (missing.length > 0) process.stderr.write(`Skipped, as there is no ${missing.join(', ')} on the PATH: ${name}.\n`);
  (missing.length === 0 ? describe : describe.skip)(name, tests);
}
