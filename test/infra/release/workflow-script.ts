import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { scriptStep } from './workflows.ts';

export type Texts = Readonly<Record<string, string>>;

/** A script of a workflow as GitHub runs it, and what comes of it. */
export interface Run {
  /** File, job and name of the step. */
  readonly step: readonly [string, string, string];
  /** Programs that stand in for others, as Bash; each notes its arguments in `calls`. */
  readonly programs: Texts;
  readonly env?: object;
  readonly files?: Texts;
  readonly expected: { status: number; calls?: unknown; stdout?: unknown; output?: string; changes?: string };
}

const folder = temporaryFolder();

function outcomeOf({ step, programs, env = {}, files = {} }: Run) {
  const cwd = mkdtempSync(path.join(folder, 'step-'));
  const bin = path.join(cwd, 'bin');
  mkdirSync(bin);
  for (const [name, text] of Object.entries(programs)) {
    writeFileSync(path.join(bin, name), `#!/usr/bin/env bash\necho "$*" >> calls\n${text}\n`);
    chmodSync(path.join(bin, name), 0o755);
  }
  for (const [name, text] of Object.entries({ calls: '', output: '', 'changes.md': '', ...files })) {
    writeFileSync(path.join(cwd, name), text);
  }
  const { status, stdout } = spawnSync(
    'bash',
    ['--noprofile', '--norc', '-eo', 'pipefail', '-c', scriptStep(...step).run],
    {
      cwd,
      encoding: 'utf8',
      env: { ...process.env, GITHUB_OUTPUT: path.join(cwd, 'output'), ...env, PATH: `${bin}:${process.env.PATH}` },
    },
  );
  const read = (name: string) => readFileSync(path.join(cwd, name), 'utf8');
  return { status, stdout, calls: read('calls'), output: read('output'), changes: read('changes.md') };
}

/** Tries each of them, by what it shows. */
export const check = (cases: Readonly<Record<string, Run>>): void => {
  test.each(Object.entries(cases))('%s', (_, run) => expect(outcomeOf(run)).toMatchObject(run.expected));
};
