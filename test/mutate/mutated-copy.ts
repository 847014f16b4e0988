import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

export const root = join(import.meta.dirname, '../..');
/** A change may make a loop endless. */
const TIMEOUT_MS = 300_000;

/** Large, and no part of the code. */
const NOT_COPIED = new Set(['.git', 'cdk.out', 'node_modules']);

/** A file of the project with a fault. */
export interface Mutant {
  readonly file: string;
  readonly original: string;
  readonly changed: string;
}

export interface Outcome {
  readonly hasFailed: boolean;
  readonly output: string;
}

/** A copy of the project, in which commands run with one mutant each. It is removed when this process ends. */
export class MutatedCopy {
  readonly #root = mkdtempSync(join(tmpdir(), 'mutants-'));

  constructor() {
    process.once('exit', () => rmSync(this.#root, { recursive: true, force: true }));
    process.once('SIGINT', () => process.exit(130));
    for (const name of readdirSync(root).filter((each) => !NOT_COPIED.has(each)))
      cpSync(join(root, name), join(this.#root, name), { recursive: true });
    symlinkSync(join(root, 'node_modules'), join(this.#root, 'node_modules'));
  }

  /** Runs a script with a mutant. One that does not end in time has failed. */
  async run(args: readonly string[], { file, original, changed }: Mutant): Promise<Outcome> {
    writeFileSync(join(this.#root, file), changed);
    const env = { ...process.env, FAST_TESTS: 'yes' };
    // SIGTERM ends all that the suites have started.
    const child = spawn(process.execPath, args, { cwd: this.#root, env, timeout: TIMEOUT_MS });
    const [output, errors, [exitCode]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close'),
    ]);
    writeFileSync(join(this.#root, file), original);
    return { hasFailed: exitCode !== 0, output: output + errors };
  }
}
