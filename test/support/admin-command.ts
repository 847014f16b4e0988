import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';
import { expect, jest } from '@jest/globals';
import * as v from 'valibot';
import { acceptForeignErrors } from './foreign-errors.ts';

/** A command that hangs is ended, so that its test fails and leaves nothing behind. */
const LONGEST_MS = 25_000;

const root = path.join(import.meta.dirname, '../..');

export interface Outcome {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const createdKeySchema = v.looseObject({
  id: v.string(),
  key: v.string(),
  name: v.string(),
  plan: v.string(),
  perMinute: v.number(),
  perDay: v.number(),
  expires: v.nullable(v.string()),
});

export type CreatedKey = v.InferOutput<typeof createdKeySchema>;
type Child = ChildProcessByStdio<null, Readable, Readable>;
type Environment = Readonly<Record<string, string | undefined>>;

/** What the runner of the tests may have set, and a shell would not. */
const unset = { FORCE_COLOR: undefined, NO_COLOR: undefined, NODE_OPTIONS: undefined };

/** Runs a program with the environment of a shell and nobody at the keyboard. */
export function run(program: string, args: readonly string[], env: Environment = {}): Promise<Outcome> {
  return outcomeOf(start(program, args, env));
}

function start(program: string, args: readonly string[], env: Environment = {}): Child {
  return spawn(program, args, {
    cwd: root,
    env: { ...process.env, ...unset, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: LONGEST_MS,
  });
}

async function outcomeOf(child: Child): Promise<Outcome> {
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { exitCode: child.exitCode, stdout, stderr };
}

/** `npm run admin -- …` in a process of its own, without npm, where the process itself matters. */
export function admin(words: readonly string[], env?: Environment): Promise<Outcome> {
  return run(process.execPath, ['infra/admin/main.ts', ...words], env);
}

/** Commands that have run in this process. One has to end before the next begins: they share its arguments and output. */
let lastCommand: Promise<unknown> = Promise.resolve();
let commands = 0;

/** The end of a command that runs in this process. */
class Exit extends Error {
  readonly exitCode: number;

  constructor(exitCode: number) {
    super(`The command has ended with ${exitCode}`);
    this.exitCode = exitCode;
  }
}

/** The same in this process, which takes a tenth of the time, and goes by the clock of the hosts in it. */
function adminHere(words: readonly string[]): Promise<Outcome> {
  const outcome = lastCommand.then(() => runHere(words));
  lastCommand = outcome.catch(() => undefined);
  return outcome;
}

async function runHere(words: readonly string[]): Promise<Outcome> {
  acceptForeignErrors();
  const { argv, stdout, stderr } = process;
  const [printed, told] = [capture(stdout), capture(stderr)];
  const exit = jest.spyOn(process, 'exit').mockImplementation((code) => {
    throw new Exit(Number(code));
  });
  process.argv = [process.execPath, 'infra/admin/main.ts', ...words];
  let exitCode = 0;
  try {
    // A module runs once; with another query it is another module.
    await import(`../../infra/admin/main.ts?command=${(commands += 1)}`);
  } catch (error) {
    if (!(error instanceof Exit)) throw error;
    ({ exitCode } = error);
  } finally {
    process.argv = argv;
    exit.mockRestore();
    for (const { end } of [printed, told]) end();
  }
  return { exitCode, stdout: printed.text(), stderr: told.text() };
}

/** Takes what is written to a stream, which is no terminal meanwhile. */
function capture(stream: NodeJS.WriteStream): { readonly text: () => string; readonly end: () => void } {
  const { isTTY } = stream;
  const listeners = stream.listeners('error').length;
  let written = '';
  stream.isTTY = false;
  const write = jest.spyOn(stream, 'write').mockImplementation((chunk) => {
    written += String(chunk);
    return true;
  });
  const end = (): void => {
    write.mockRestore();
    stream.isTTY = isTTY;
    if (stream.listeners('error').length > listeners) stream.removeAllListeners('error');
  };
  return { text: () => stripVTControlCharacters(written), end };
}

/** Runs the command and sends it Ctrl-C once it has come so far. */
export async function interruptedAdmin(words: readonly string[], isSoFar: () => boolean): Promise<Outcome> {
  const child = start(process.execPath, ['infra/admin/main.ts', ...words]);
  const outcome = outcomeOf(child);
  while (!isSoFar() && child.exitCode === null && child.signalCode === null) await sleep(10);
  child.kill('SIGINT');
  return outcome;
}

/** Checks that a command failed as all do: nothing on standard output, one line on standard error, which it returns. */
export function failureLine({ exitCode, stdout, stderr }: Outcome): string {
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
  const lines = stderr.split('\n');
  expect(lines).toEqual([expect.stringMatching(/./), '']);
  return lines[0] ?? '';
}

function expectSuccess(outcome: Omit<Outcome, 'stdout'>): void {
  expect(outcome).toEqual({ exitCode: 0, stderr: '' });
}

/** The admin command as one admin uses it on one host. It remembers what it said, for a look through it at the end. */
export class AdminCommand {
  readonly #origin: string;
  /** All that the commands printed, except those that make a key. */
  transcript = '';
  /** All that the commands printed that make a key. */
  newKeys = '';

  /** @param origin address of the host, without a stage */
  constructor(origin: string) {
    this.#origin = origin;
  }

  async run(...words: string[]): Promise<Outcome> {
    const outcome = await adminHere([...words, '--url', this.#origin]);
    const printed = outcome.stdout + outcome.stderr;
    if (words[1] === 'create' || words[1] === 'rotate') this.newKeys += printed;
    else this.transcript += printed;
    return outcome;
  }

  /** The standard output of a command that must succeed, with nothing on standard error. */
  async output(...words: string[]): Promise<string> {
    const { exitCode, stdout, stderr } = await this.run(...words);
    expectSuccess({ exitCode, stderr });
    return stdout;
  }

  /** The one JSON value that a command must print. */
  async json(...words: string[]): Promise<unknown> {
    return JSON.parse(await this.output(...words, '--json'));
  }

  /** What `keys create` or `keys rotate` says about its new key. */
  async newKey(...words: string[]): Promise<CreatedKey> {
    return v.parse(createdKeySchema, await this.json('keys', ...words));
  }

  /** The one line that a command must fail with. */
  async failure(...words: string[]): Promise<string> {
    return failureLine(await this.run(...words));
  }
}
