import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Readable } from 'node:stream';
import * as v from 'valibot';
import { demoKey } from '../../infra/demo-keys.ts';
import { planIds } from '../../shared/keys/plans.ts';
import { LogScan } from '../support/secrets.ts';

const root = path.join(import.meta.dirname, '../..');

const readySchema = v.strictObject({
  baseUrl: v.string(),
  keys: v.looseObject({ free: v.string(), pro: v.string(), business: v.optional(v.string()), enterprise: v.string() }),
});

export type Ready = v.InferOutput<typeof readySchema>;

interface Ended {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** `npm start` in a process of its own, without npm. */
export class HostProcess {
  readonly #process: ChildProcessByStdio<null, Readable, Readable>;
  readonly #exited: Promise<unknown>;
  readonly #dataFolder: string;
  #stdout = '';
  #stderr = '';

  /** @param temporaryFolder where it keeps what it removes when it stops, but not when it is killed */
  constructor(args: readonly string[], temporaryFolder: string) {
    this.#process = spawn(process.execPath, ['infra/local/main.ts', ...args], {
      cwd: root,
      env: { ...process.env, TMPDIR: temporaryFolder },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#dataFolder = args[args.indexOf('--data') + 1] ?? '';
    this.#process.stdout.on('data', (chunk: Buffer) => (this.#stdout += chunk.toString()));
    this.#process.stderr.on('data', (chunk: Buffer) => (this.#stderr += chunk.toString()));
    this.#exited = once(this.#process, 'close');
  }

  get stdout(): string {
    return this.#stdout;
  }

  get stderr(): string {
    return this.#stderr;
  }

  /** Waits for the one line that `--json` prints. */
  async ready(): Promise<Ready> {
    await this.prints('\n');
    return v.parse(readySchema, JSON.parse(this.#stdout));
  }

  /** Waits until standard output has the text. */
  async prints(text: string): Promise<void> {
    while (!this.#stdout.includes(text)) {
      if (this.#hasEnded) throw new Error(`The host has ended: ${this.#stderr}`);
      await Promise.race([once(this.#process.stdout, 'data'), this.#exited]);
    }
  }

  async ended(): Promise<Ended> {
    await this.#exited;
    return { exitCode: this.#process.exitCode, stdout: this.#stdout, stderr: this.#stderr };
  }

  /** Sends the signal and waits for the end. Harmless where the process has ended. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<Ended> {
    if (!this.#hasEnded) this.#process.kill(signal);
    const ended = await this.ended();
    // A host in memory keeps none.
    const logs = path.join(this.#dataFolder, 'logs');
    if (existsSync(logs)) new LogScan(logs).expectNoSecrets(planIds.map(demoKey));
    return ended;
  }

  get #hasEnded(): boolean {
    return this.#process.exitCode !== null || this.#process.signalCode !== null;
  }
}
