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
import { TIMED_OUT } from './report-line.ts';

/** Room for short-lived objects. By default V8 lets it grow with the traffic, in every environment. */
const YOUNG_GENERATION_MEGABYTES = 4;

/** The time that Lambda gives a function to load. */
const INIT_TIMEOUT_MS = 10_000;

const BYTES_PER_MEGABYTE = 1024 * 1024;

const runtime = new URL('runtime.worker.ts', import.meta.url);

/** Takes a part of a streamed response. The function goes on once it has been taken. */
export type ChunkTaker = (chunk: Uint8Array) => Promise<void> | void;

/** One execution environment of a function: a worker thread with environment variables of its own. */
export class ExecutionEnvironment {
  readonly #worker: Worker;
  /** Messages that nobody has waited for yet: a function may fail while a chunk of its response is being taken. */
  readonly #inbox: EnvironmentMessage[] = [];
  #receive: ((message: EnvironmentMessage) => void) | undefined;
  #giveUp: ((error: Error) => void) | undefined;
  #dead: Error | undefined;
  #mostHeapBytes = 0;

  /** Starts the thread; {@link load} waits for the function. */
  constructor(settings: EnvironmentSettings, variables: Readonly<Record<string, string>>, log: LogSink) {
    this.#worker = new Worker(runtime, {
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
    this.#worker.on('message', (message: EnvironmentMessage) => this.#settle(message));
    this.#worker.on('error', (error: Error) => {
      log(`${error.stack ?? error.message}\n`);
      this.#die(`Runtime exited with error: ${error.message}`);
    });
    this.#worker.on('exit', (code) => this.#die(`Runtime exited with error: exit status ${code}`));
  }

  /** Waits until the function is loaded. @throws FunctionError where it fails to load, or takes too long */
  async load(): Promise<void> {
    const timer = setTimeout(() => void this.#timeOut('Init phase timed out'), INIT_TIMEOUT_MS);
    try {
      const message = await this.#nextMessage();
      if (message.kind !== 'initFailed') return;
      await this.stop();
      throw new FunctionError(message.failure);
    } finally {
      clearTimeout(timer);
    }
  }

  get isAlive(): boolean {
    return this.#dead === undefined;
  }

  /** The most memory that its invocations left in use, in whole megabytes. */
  get usedMegabytes(): number {
    return Math.ceil(this.#mostHeapBytes / BYTES_PER_MEGABYTE);
  }

  /**
   * Runs one event.
   *
   * @param take gets the parts of a streamed response, one after the other
   * @returns the result as JSON text; empty after a streamed response
   * @throws FunctionError where the function fails or times out
   */
  async invoke(invocation: Invocation, take: ChunkTaker): Promise<string> {
    const timer = setTimeout(() => void this.#timeOut('Task timed out'), Math.max(0, invocation.deadline - Date.now()));
    try {
      this.#post({ kind: 'invoke', invocation });
      let message = await this.#nextMessage();
      while (message.kind === 'chunk') {
        await this.#take(take, message.chunk);
        message = await this.#nextMessage();
      }
      if ('heapBytes' in message) this.#mostHeapBytes = Math.max(this.#mostHeapBytes, message.heapBytes);
      if (message.kind === 'succeeded') return message.payload;
      throw new FunctionError(
        message.kind === 'failed' ? message.failure : { errorType: 'Runtime.Unknown', errorMessage: message.kind },
      );
    } finally {
      clearTimeout(timer);
    }
  }

  async stop(): Promise<void> {
    if (!this.isAlive) return;
    const exit = once(this.#worker, 'exit');
    await this.#worker.terminate();
    await exit.catch(() => undefined);
  }

  #post(message: HostMessage): void {
    this.#worker.postMessage(message);
  }

  #nextMessage(): Promise<EnvironmentMessage> {
    const message = this.#inbox.shift();
    if (message) return Promise.resolve(message);
    return this.#whileAlive((resolve) => {
      this.#receive = resolve;
    });
  }

  /** Waits for something, but not beyond the end of the environment. */
  #whileAlive<Value>(start: (resolve: (value: Value) => void, reject: (error: Error) => void) => void): Promise<Value> {
    if (this.#dead) return Promise.reject(this.#dead);
    return new Promise((resolve, reject) => {
      this.#giveUp = reject;
      start(resolve, reject);
    });
  }

  async #take(take: ChunkTaker, chunk: Uint8Array): Promise<void> {
    await this.#whileAlive<void>((resolve, reject) => void Promise.resolve(take(chunk)).then(resolve, reject));
    this.#post({ kind: 'taken' });
  }

  #settle(message: EnvironmentMessage): void {
    if (this.#receive) this.#receive(message);
    else this.#inbox.push(message);
    this.#receive = undefined;
  }

  async #timeOut(reason: string): Promise<void> {
    this.#die(reason, TIMED_OUT);
    await this.#worker.terminate();
  }

  #die(errorMessage: string, errorType = 'Runtime.ExitError'): void {
    this.#dead ??= new FunctionError({ errorType, errorMessage });
    this.#giveUp?.(this.#dead);
  }
}
