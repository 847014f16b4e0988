import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { LogSink } from '../log-sink.ts';
import {
  type EnvironmentMessage,
  type EnvironmentSettings,
  FunctionError,
  type HostMessage,
  type Invocation,
} from './invocation.ts';

/** Room for short-lived objects. By default V8 lets it grow with the traffic, in every environment. */
const YOUNG_GENERATION_MEGABYTES = 4;

/** The time that Lambda gives a function to load. */
const INIT_TIMEOUT_MS = 10_000;

const runtimeSource = new URL('runtime.worker.ts', import.meta.url);

/** Takes a part of a streamed response. The function goes on at once, or when the promise says that it was taken. */
export type ChunkTaker = (chunk: Uint8Array) => Promise<void> | undefined;

/** The event that an environment runs, or its load. */
interface UnderWay {
  readonly take: ChunkTaker;
  readonly resolve: (payload: string) => void;
  readonly reject: (error: unknown) => void;
}

/** One execution environment of a function: a worker thread with environment variables of its own. */
export class ExecutionEnvironment {
  readonly #worker: Worker;
  #underWay: UnderWay | undefined;
  #dead: Error | undefined;
  #onEnd: () => void = () => undefined;

  /** Starts the thread; {@link load} waits for the function. */
  constructor(settings: EnvironmentSettings, variables: Readonly<Record<string, string>>, log: LogSink) {
    this.#worker = new Worker(settings.runtime ?? runtimeSource, {
      workerData: settings,
      env: { ...variables },
      execArgv: [],
      stdout: true,
      stderr: true,
      resourceLimits: {
        maxOldGenerationSizeMb: settings.memoryMegabytes,
        maxYoungGenerationSizeMb: YOUNG_GENERATION_MEGABYTES,
      },
    });
    this.#worker.stdout.on('data', (chunk: Buffer) => log(chunk));
    this.#worker.stderr.on('data', (chunk: Buffer) => log(chunk));
    this.#worker.on('message', (message: EnvironmentMessage) => this.#receive(message));
    this.#worker.on('error', (error: Error) => {
      log(`${error.stack ?? error.message}\n`);
      this.#die(`Runtime exited with error: ${error.message}`);
    });
    this.#worker.on('exit', (code) => this.#die(`Runtime exited with error: exit status ${code}`));
  }

  /** Waits until the function is loaded. @throws FunctionError where it fails to load, or takes too long */
  async load(): Promise<void> {
    try {
      await this.#result('Init phase timed out', INIT_TIMEOUT_MS, () => undefined);
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  /** Calls back, one listener, as soon as no event can be given to it any more. */
  onEnd(listener: () => void): void {
    this.#onEnd = listener;
  }

  get isAlive(): boolean {
    return this.#dead === undefined;
  }

  /**
   * Runs one event.
   *
   * @param take gets the parts of a streamed response, one after the other
   * @returns the result as JSON text; empty after a streamed response
   * @throws FunctionError where the function fails or times out
   */
  invoke(invocation: Invocation, take: ChunkTaker): Promise<string> {
    this.#post({ kind: 'invoke', invocation });
    return this.#result('Task timed out', invocation.deadline - Date.now(), take);
  }

  /** Ends it in the middle of what is under way, which fails. */
  #timeOut(errorMessage: string): void {
    this.#die(errorMessage, 'Sandbox.Timedout');
    void this.#worker.terminate();
  }

  async stop(): Promise<void> {
    if (!this.isAlive) return;
    this.#die('Runtime exited: it was stopped');
    const exit = once(this.#worker, 'exit');
    await this.#worker.terminate();
    await exit.catch(() => undefined);
  }

  #post(message: HostMessage): void {
    this.#worker.postMessage(message);
  }

  /** What becomes of what is under way: at the latest, it ends with the environment. */
  async #result(timeoutReason: string, timeoutMs: number, take: ChunkTaker): Promise<string> {
    if (this.#dead) throw this.#dead;
    const timer = setTimeout(() => this.#timeOut(timeoutReason), timeoutMs);
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    this.#underWay = { take, resolve, reject };
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      this.#underWay = undefined;
    }
  }

  #receive(message: EnvironmentMessage): void {
    if (message.kind === 'chunk') return void this.#take(message.chunk);
    if (message.kind === 'succeeded') this.#underWay?.resolve(message.payload);
    else this.#underWay?.reject(new FunctionError(message.failure));
  }

  async #take(chunk: Uint8Array): Promise<void> {
    await this.#underWay?.take(chunk);
    this.#post({ kind: 'taken' });
  }

  #die(errorMessage: string, errorType = 'Runtime.ExitError'): void {
    if (this.#dead) return;
    this.#dead = new FunctionError({ errorType, errorMessage });
    this.#underWay?.reject(this.#dead);
    this.#onEnd();
  }
}
