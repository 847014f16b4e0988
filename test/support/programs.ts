import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
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

/**
 * Puts a script in the place of a program, for a PATH that begins with its directory. The system skips a program that
 * it cannot run and takes the real one, so the fake proves that it runs.
 */
export function fakeProgram(directory: string, name: string, script: string, shell = '/bin/sh'): void {
  const file = path.join(directory, name);
  writeFileSync(file, `#!${shell}\n[ "$1" = --prove ] && echo fake && exit\n${script}\n`, { mode: 0o755 });
  const { PATH = '' } = process.env;
  const proof = spawnSync(name, ['--prove'], { env: { PATH: `${directory}:${PATH}` }, encoding: 'utf8' });
  if (proof.stdout !== 'fake\n')
    throw new Error(`The fake ${name} does not run in ${directory}: ${proof.error ?? proof.stderr}`);
}
