import type { Readable } from 'node:stream';
import { FunctionThread, type Log } from './function-thread.ts';
import { FunctionError, type FunctionSettings } from './invocation.ts';

/** A Lambda function. What it takes and gives is JSON text. */
export interface LambdaFunction {
  /** @throws FunctionError */
  invoke(event: string): Promise<string>;
  /** Fails with FunctionError. */
  stream(event: string): Readable;
}

/**
 * Lambda functions that share one worker thread. It starts with the first event, and anew with the next one after a crash.
 *
 * Lambda refuses an event or a result of more than 6 MB. Here the functions refuse such a request themselves, with the same
 * 413, and none has such a result.
 */
export class LambdaFunctions {
  readonly #settings: readonly FunctionSettings[];
  readonly #log: Log;
  #threads: FunctionThread[] = [];
  #isClosed = false;

  constructor(settings: readonly FunctionSettings[], log: Log) {
    this.#settings = settings;
    this.#log = log;
  }

  /** @param settings one of those of the constructor */
  byName(settings: FunctionSettings): LambdaFunction {
    return {
      invoke: async (event) => this.#thread().invoke(settings, event),
      stream: (event) => this.#thread().stream(settings, event),
    };
  }

  get codeFolders(): readonly string[] {
    return this.#settings.map(({ codeFolder }) => codeFolder);
  }

  /** Lets every event from now on run the code as it is in its folder; what is under way finishes. */
  renew(): void {
    for (const thread of this.#threads) thread.retire();
    this.#start();
  }

  /** Breaks off what is running. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#threads.map((thread) => thread.stop()));
  }

  #thread(): FunctionThread {
    if (this.#isClosed) throw new FunctionError({ errorType: 'Closed', errorMessage: 'The host is stopping' });
    const last = this.#threads.at(-1);
    return last?.isAlive ? last : this.#start();
  }

  #start(): FunctionThread {
    const thread = new FunctionThread(this.#settings, this.#log);
    this.#threads = [...this.#threads.filter((each) => each.isAlive), thread];
    return thread;
  }
}
