import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { LogSink } from '../log-sink.ts';
import { type EnvironmentMessage, type EnvironmentSettings, FunctionError, type Invocation } from './invocation.ts';

/** Room for short-lived objects. By default V8 lets it grow with the traffic, in every environment. */
const YOUNG_GENERATION_MEGABYTES = 8;

/** The time that Lambda gives a function to load. */
const INIT_TIMEOUT_MS = 10_000;

const runtime = new URL('runtime.worker.ts', import.meta.url);

/** One execution environment of a function: a worker thread with environment variables of its own. */
export class ExecutionEnvironment {
  readonly #worker: Worker;
  #waiting: { resolve: (message: EnvironmentMessage) => void; reject: (error: Error) => void } | undefined;
  #dead: Error | undefined;

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

  /** Runs one event. @returns the result as JSON text @throws FunctionError where the function fails or times out */
  async invoke(invocation: Invocation): Promise<string> {
    const timer = setTimeout(() => void this.#timeOut('Task timed out'), Math.max(0, invocation.deadline - Date.now()));
    try {
      const answer = this.#nextMessage();
      this.#worker.postMessage(invocation);
      const message = await answer;
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

  #nextMessage(): Promise<EnvironmentMessage> {
    if (this.#dead) return Promise.reject(this.#dead);
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
    });
  }

  #settle(message: EnvironmentMessage): void {
    this.#waiting?.resolve(message);
    this.#waiting = undefined;
  }

  async #timeOut(reason: string): Promise<void> {
    this.#die(reason, 'Sandbox.Timedout');
    await this.#worker.terminate();
  }

  #die(errorMessage: string, errorType = 'Runtime.ExitError'): void {
    this.#dead ??= new FunctionError({ errorType, errorMessage });
    this.#waiting?.reject(this.#dead);
    this.#waiting = undefined;
  }
}
