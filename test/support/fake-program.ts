import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';

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
