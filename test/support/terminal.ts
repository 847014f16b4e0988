import { type ChildProcessByStdio, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import type { Readable, Writable } from 'node:stream';

/** A command that hangs is ended, so that its test fails and leaves nothing behind. */
const LONGEST_MS = 25_000;

const root = path.join(import.meta.dirname, '../..');

/** Why no {@link Terminal} can be opened here; undefined where one can. */
export function terminalObstacle(): string | undefined {
  const { stdout } = spawnSync('script', ['--version'], { encoding: 'utf8' });
  return stdout?.includes('util-linux') ? undefined : 'there is no util-linux script(1) on the PATH to open one with';
}

/** What a person's terminal says of itself: it has colours, which `CI` and others would have Node.js deny. */
function personsEnvironment(): NodeJS.ProcessEnv {
  const { PATH, HOME } = process.env;
  return { PATH, HOME, TERM: 'xterm-256color' };
}

/** A terminal with a shell command in it, and somebody at its keyboard. */
export class Terminal {
  readonly #process: ChildProcessByStdio<Writable, Readable, null>;
  readonly #closed: Promise<unknown>;
  #screen = '';

  /** @param line runs in a shell; `admin` stands for the admin command */
  constructor(line: string, env: Readonly<Record<string, string>> = {}) {
    const command = `stty cols 200; ${line.replace(/^admin /, `"${process.execPath}" infra/admin/main.ts `)}`;
    this.#process = spawn('script', ['--quiet', '--return', '--command', command, '/dev/null'], {
      cwd: root,
      env: { ...personsEnvironment(), ...env },
      stdio: ['pipe', 'pipe', 'inherit'],
      timeout: LONGEST_MS,
    });
    this.#process.stdout.setEncoding('utf8').on('data', (text: string) => (this.#screen += text));
    this.#closed = once(this.#process, 'close');
  }

  /** Types something once the text is on the screen. */
  async typeAt(text: string, keys: string): Promise<void> {
    while (!this.#screen.includes(text)) {
      if (this.#process.exitCode !== null || this.#process.signalCode !== null)
        throw new Error(`The command has ended: ${this.#screen}`);
      await Promise.race([once(this.#process.stdout, 'data'), this.#closed]);
    }
    this.#process.stdin.write(keys);
  }

  /** What was written to the screen, control sequences included, and how the command ended. */
  async ended(): Promise<{ readonly exitCode: number | null; readonly screen: string }> {
    await this.#closed;
    return { exitCode: this.#process.exitCode, screen: this.#screen.replaceAll('\r\n', '\n') };
  }
}
