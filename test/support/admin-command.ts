import { type ChildProcessByStdio, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { stripVTControlCharacters } from 'node:util';
import { expect, jest } from '@jest/globals';
import { findTarget, type Target } from '../../infra/admin/service/target.ts';
import { acceptForeignErrors } from './foreign-errors.ts';
import type { LocalHost } from './local-host.ts';
import { describeWith } from './programs.ts';
import { HANG_MS, until } from './until.ts';

const root = path.join(import.meta.dirname, '../..');

export interface Outcome {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CreatedKey extends Readonly<Record<'id' | 'token' | 'label' | 'graceEnds', string>> {
  readonly applied: boolean;
  readonly expires: string | null;
}

/** Runs a program with the environment of a shell, and no terminal. */
export async function run(program: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Outcome> {
  const child = spawn(program, args, {
    cwd: root,
    // Jest's workers have the first one, and a shell would not.
    env: { ...process.env, FORCE_COLOR: undefined, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    // Its test fails, and leaves nothing behind.
    timeout: HANG_MS,
  });
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  if (child.killed) throw new Error(`Waited in vain for the end of ${child.spawnargs.join(' ')}\n${stdout}${stderr}`);
  return { exitCode: child.exitCode, stdout, stderr };
}

let commands = 0;

/**
 * `npm run admin -- …` in this process, which takes a tenth of the time, and goes by the clock of its servers. One must
 * end before the next begins: they share arguments and output.
 */
async function runHere(words: readonly string[]): Promise<Outcome> {
  acceptForeignErrors();
  const { argv, stdout, stderr } = process;
  const [output, failure] = [capture(stdout), capture(stderr)];
  let ended: Outcome | undefined;
  const outcome = (exitCode: number): Outcome => ({ exitCode, stdout: output.text(), stderr: failure.text() });
  const exit = jest.spyOn(process, 'exit').mockImplementation((code) => {
    // What follows the first call would not run.
    ended ??= outcome(Number(code));
    throw new Error('The command has ended');
  });
  process.argv = [process.execPath, 'infra/admin/main.ts', ...words];
  try {
    // A module runs once; with another query it is another module.
    await import(`../../infra/admin/main.ts?command=${(commands += 1)}`);
  } catch (error) {
    if (!ended) throw error;
  } finally {
    process.argv = argv;
    exit.mockRestore();
    for (const { end } of [output, failure]) end();
  }
  return ended ?? outcome(0);
}

/** Takes what is written to a stream, which is no terminal meanwhile. */
export function capture(stream: NodeJS.WriteStream): { readonly text: () => string; readonly end: () => void } {
  const { isTTY } = stream;
  const listeners = stream.listeners('error').length;
  let written = '';
  stream.isTTY = false;
  const write = jest.spyOn(stream, 'write').mockImplementation((chunk, ...rest) => {
    written += String(chunk);
    const done = rest.at(-1);
    if (typeof done === 'function') done();
    return true;
  });
  const end = (): void => {
    write.mockRestore();
    stream.isTTY = isTTY;
    if (stream.listeners('error').length > listeners) stream.removeAllListeners('error');
  };
  return { text: () => stripVTControlCharacters(written), end };
}

/** Checks that a command failed as all do: nothing on standard output, one line on standard error, which it returns. */
export function failureLine({ exitCode, stdout, stderr }: Outcome): string {
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
  const lines = stderr.split('\n');
  expect(lines).toEqual([expect.stringMatching(/./), '']);
  return lines[0] ?? '';
}

function outputOf({ exitCode, stdout, stderr }: Outcome): string {
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  return stdout;
}

/** The admin command as one admin uses it on one host. It stores its output, for a check at the end. */
export class AdminCommand {
  readonly #origin: string;
  /** All that the commands printed, except those that make a key. */
  transcript = '';
  /** All that the commands printed that make a key. */
  newKeys = '';

  /** @param origin address of the server, without a stage */
  constructor(origin: string) {
    this.#origin = origin;
  }

  async run(...words: string[]): Promise<Outcome> {
    const place = words.includes('--stage') ? [] : ['--url', this.#origin];
    const outcome = await runHere([...words, ...place]);
    const printed = outcome.stdout + outcome.stderr;
    if (['create', 'rotate', 'add'].includes(words[1] ?? '')) this.newKeys += printed;
    else this.transcript += printed;
    return outcome;
  }

  /** The standard output of a command that must succeed, with nothing on standard error. */
  async output(...words: string[]): Promise<string> {
    return outputOf(await this.run(...words));
  }

  /** The one JSON value that a command must print. */
  async json(...words: string[]): Promise<unknown> {
    return JSON.parse(await this.output(...words, '--json'));
  }

  /** What `keys create`, `rotate` or `add` says about its new token. */
  async newKey(...words: string[]): Promise<CreatedKey> {
    return JSON.parse(await this.output('keys', ...words, '--json'));
  }

  /** The one line that a command must fail with. */
  async failure(...words: string[]): Promise<string> {
    return failureLine(await this.run(...words));
  }
}

/** A local server as the admin command finds it, without what only AWS needs: the pace, and the pause. */
export const adminTarget = (host: LocalHost): Promise<Target> => unpacedTarget({ url: host.origin }, () => undefined);

async function unpacedTarget(...options: Parameters<typeof findTarget>): Promise<Target> {
  const target = await findTarget(...options);
  for (const { middlewareStack } of [target.gateway, target.gatewayOnce]) middlewareStack.remove('paced');
  return { ...target, pause: (milliseconds) => Promise.resolve(pause(milliseconds)) };
}

let pause: (milliseconds: number) => void = () => undefined;

/** What happens while a command that runs in this process waits; by default nothing, and it goes on at once. */
export function whilePausing(act: typeof pause): void {
  pause = act;
}

jest.unstable_mockModule('../../infra/admin/service/target.ts', () => ({ findTarget: unpacedTarget }));

export function closeTarget({ gateway, gatewayOnce, documents }: Target): void {
  for (const client of [gateway, gatewayOnce, documents]) client.destroy();
}

/** Tests on a terminal, which the script(1) of util-linux opens. */
export function describeOnTerminal(name: string, tests: () => void): void {
  const { stdout } = spawnSync('script', ['--version'], { encoding: 'utf8' });
  describeWith(stdout?.includes('util-linux') ? [] : ["util-linux's script"], name, tests);
}

/** A terminal with a shell command in it, at which a test can type. */
export class Terminal {
  readonly #process: ChildProcessByStdio<Writable, Readable, null>;
  readonly #closed: Promise<unknown>;
  #screen = '';

  /** @param line runs in a shell; `admin` stands for the admin command */
  constructor(line: string) {
    const { PATH, HOME } = process.env;
    const command = `stty cols 200; ${line.replace(/^admin /, `"${process.execPath}" infra/admin/main.ts `)}`;
    this.#process = spawn('script', ['--quiet', '--return', '--command', command, '/dev/null'], {
      cwd: root,
      // A person's terminal has colors, which `CI` and others would have Node.js deny.
      env: { PATH, HOME, TERM: 'xterm-256color' },
      stdio: ['pipe', 'pipe', 'inherit'],
      timeout: HANG_MS,
    });
    this.#process.stdout.setEncoding('utf8').on('data', (shown: string) => (this.#screen += shown));
    this.#closed = once(this.#process, 'close');
  }

  /** Types something once the prompt is on the screen. */
  async typeAt(prompt: string, keys: string): Promise<void> {
    const { stdout } = this.#process;
    await until(`the screen has ${prompt}`, () => this.#screen.includes(prompt) || stdout.readableEnded);
    if (stdout.readableEnded) throw new Error(`The command has ended: ${this.#screen}`);
    this.#process.stdin.write(keys);
  }

  /** What was written to the screen, control sequences included, and how the command ended. */
  async ended(): Promise<{ readonly exitCode: number | null; readonly screen: string }> {
    await this.#closed;
    return { exitCode: this.#process.exitCode, screen: this.#screen.replaceAll('\r\n', '\n') };
  }
}
