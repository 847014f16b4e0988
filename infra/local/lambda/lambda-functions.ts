import { randomUUID } from 'node:crypto';
import inspector from 'node:inspector';
import { Readable } from 'node:stream';
import { Worker } from 'node:worker_threads';
import pLimit from 'p-limit';
import { writeNotice } from '../local-server-error.ts';
import type { ResponsePart } from './response-stream.ts';

/** Max memory of all functions together. */
const HEAP = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 8 };

/** Max time of an event in the queue: the gateway's timeout. No caller waits for an event that begins later. */
const MAX_WAIT_MS = 29_000;

/** Max concurrent events of a function: the connections of its client, so no call waits for one. */
const MAX_CONCURRENT_EVENTS = 50;

/** How long a thread may be blocked after an event has timed out in it. */
const MAX_BLOCKED_MS = 1_000;

export type Log = (group: string, text: string) => void;

/** A Lambda function. Input and output are JSON text. */
export interface LambdaFunction {
  readonly name: string;
  /** @throws FunctionError */
  invoke(event: string): Promise<string>;
  /** The parts of a streamed response. Fails with FunctionError. */
  stream(event: string): Readable;
}

/** A function's configuration for the worker thread. */
export interface FunctionSettings {
  /** Directory of the bundle. */
  readonly codeDirectory: string;
  /** `file.export` of the handler. */
  readonly handler: string;
  readonly functionName: string;
  readonly arn: string;
  readonly memoryMegabytes: number;
  readonly timeoutSeconds: number;
  readonly logGroupName: string;
  /** `INFO`: Lambda logs every invocation, otherwise only failed ones. */
  readonly systemLogLevel: string;
  readonly variables: Readonly<Record<string, string>>;
}

export interface Invocation {
  readonly id: string;
  readonly functionName: string;
  /** JSON text. */
  readonly event: string;
  readonly timeoutMs: number;
  /** Takes a streamed response. */
  readonly response?: WritableStream<ResponsePart> | undefined;
}

/** A message to the worker thread: an event, or whether the thread is blocked. */
export type RuntimeRequest = Invocation | 'ping';

/** Messages of the worker thread: text for a log group, an answer to `ping`, the end of an event. */
export type RuntimeMessage =
  | { readonly kind: 'log'; readonly group: string | undefined; readonly text: string }
  | { readonly kind: 'pong' }
  | ({ readonly kind: 'ended'; readonly id: string } & Outcome);

interface Outcome {
  /** JSON text; empty after a streamed response. */
  readonly payload?: string;
  readonly failure?: FunctionFailure;
  /** Duration of loading, before the first event. */
  readonly initDurationMs?: number | undefined;
}

/** Lambda's report of a failed function. */
export interface FunctionFailure {
  readonly errorType: string;
  readonly errorMessage: string;
}

/** A failure of a function: its own error, a crash, a timeout. */
export class FunctionError extends Error {
  override readonly name = 'FunctionError';
  readonly failure: FunctionFailure;

  constructor(failure: FunctionFailure) {
    super(`${failure.errorType}: ${failure.errorMessage}`);
    this.failure = failure;
  }
}

/** A timeout in milliseconds; the maximum under a debugger, which may pause a function. */
export const effectiveTimeout = (milliseconds: number): number => (inspector.url() ? 2 ** 31 - 1 : milliseconds);

interface Thread {
  readonly worker: Worker;
  /** Ends an event in progress, by its id. */
  readonly events: Map<string, (outcome: Outcome) => void>;
  /** Ends the thread if it is blocked. */
  watchdog?: NodeJS.Timeout;
  endsBecause?: string;
}

/**
 * Lambda functions that run their events concurrently in one worker thread. A crash fails all events of the thread, and
 * so does a function that has timed out and blocks it. One that has timed out without blocking keeps running: its
 * outcome is ignored.
 *
 * Lambda rejects an event or a result of more than 6 MB. Here the functions reject such a request themselves, with the
 * same 413, and none has such a result.
 */
export class LambdaFunctions {
  /** The functions by the ARN of their alias: each has one version. */
  readonly byArn: ReadonlyMap<string, LambdaFunction>;
  readonly #settings: readonly FunctionSettings[];
  readonly #log: Log;
  readonly #threads = new Set<Thread>();
  /** The thread for new events. */
  #thread: Thread | undefined;
  #isStopped = false;

  constructor(settings: readonly FunctionSettings[], log: Log) {
    this.#settings = settings;
    this.#log = log;
    this.byArn = new Map(settings.map((each) => [each.arn, this.#functionOf(each)]));
  }

  #functionOf(settings: FunctionSettings): LambdaFunction {
    const limit = pLimit(MAX_CONCURRENT_EVENTS);
    const invoke = (event: string, response?: WritableStream<ResponsePart>): Promise<string> => {
      const beginsUntil = Date.now() + effectiveTimeout(MAX_WAIT_MS);
      return limit(() => {
        if (Date.now() > beginsUntil) throw new FunctionError(timedOut('The event was never started'));
        return this.#run(settings, event, response);
      });
    };
    return {
      name: settings.functionName,
      invoke: (event) => invoke(event),
      stream: (event) => {
        const { readable, writable } = new TransformStream<ResponsePart, ResponsePart>();
        const output = Readable.fromWeb(readable, { objectMode: true });
        invoke(event, writable).catch((error: Error) => output.destroy(error));
        return output;
      },
    };
  }

  /** Fails all events. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(Array.from(this.#threads, (thread) => this.#stopThread(thread, 'it was stopped')));
  }

  /** Runs new events with the current code. */
  reload(): void {
    const old = this.#thread;
    this.#thread = undefined;
    if (old) this.#endIfUnused(old);
  }

  async #run(settings: FunctionSettings, event: string, response?: WritableStream<ResponsePart>): Promise<string> {
    if (this.#isStopped) throw new FunctionError(exit('it was stopped'));
    const thread = (this.#thread ??= this.#startThread());
    const { functionName, timeoutSeconds } = settings;
    const timeoutMs = effectiveTimeout(timeoutSeconds * 1_000);
    const invocation: Invocation = { id: randomUUID(), functionName, event, timeoutMs, response };
    const { promise: ended, resolve: end } = Promise.withResolvers<Outcome>();
    thread.events.set(invocation.id, end);
    thread.worker.postMessage(invocation, response ? [response] : []);
    const startedAt = performance.now();
    const timer = setTimeout(() => {
      end({ failure: timedOut('Task timed out') });
      this.#endIfBlocked(thread, `${functionName} timed out after ${timeoutSeconds} s`);
    }, timeoutMs);
    const outcome = await ended;
    clearTimeout(timer);
    thread.events.delete(invocation.id);
    this.#endIfUnused(thread);
    this.#report(settings, invocation.id, performance.now() - startedAt, outcome);
    if (outcome.failure) throw new FunctionError(outcome.failure);
    return outcome.payload ?? '';
  }

  /** Logs the used parts of Lambda's own line (Telemetry API, `platform.report`). */
  #report(settings: FunctionSettings, requestId: string, milliseconds: number, outcome: Outcome): void {
    const { failure, initDurationMs } = outcome;
    if (!failure && settings.systemLogLevel !== 'INFO') return;
    const metrics = { durationMs: milliseconds - (initDurationMs ?? 0), initDurationMs };
    const record = { requestId, metrics, errorType: failure?.errorType };
    const line = { time: new Date().toISOString(), type: 'platform.report', record };
    this.#log(settings.logGroupName, `${JSON.stringify(line)}\n`);
  }

  #startThread(): Thread {
    const worker = new Worker(new URL('runtime.worker.ts', import.meta.url), {
      workerData: this.#settings,
      execArgv: [],
      resourceLimits: HEAP,
    });
    const thread: Thread = { worker, events: new Map() };
    this.#threads.add(thread);
    worker.on('message', (message: RuntimeMessage) => this.#receive(message, thread));
    worker.on('error', (error: Error) => (thread.endsBecause = error.message));
    worker.on('exit', (code) => {
      clearTimeout(thread.watchdog);
      this.#threads.delete(thread);
      if (this.#thread === thread) this.#thread = undefined;
      for (const end of thread.events.values()) end({ failure: exit(thread.endsBecause ?? `exit status ${code}`) });
    });
    return thread;
  }

  #receive(message: RuntimeMessage, thread: Thread): void {
    if (message.kind === 'pong') clearTimeout(thread.watchdog);
    else if (message.kind === 'ended') thread.events.get(message.id)?.(message);
    // A crash between two events may be any function's.
    else if (message.group === undefined) process.stderr.write(message.text);
    else this.#log(message.group, message.text);
  }

  /** A function that never gives way can be stopped only with its thread. */
  #endIfBlocked(thread: Thread, reason: string): void {
    writeNotice(reason);
    clearTimeout(thread.watchdog);
    thread.worker.postMessage('ping' satisfies RuntimeRequest);
    thread.watchdog = setTimeout(() => {
      writeNotice(`${reason} and blocks the functions. Their events in progress fail.`);
      void this.#stopThread(thread, reason);
    }, MAX_BLOCKED_MS);
  }

  #endIfUnused(thread: Thread): void {
    if (thread !== this.#thread && thread.events.size === 0) void thread.worker.terminate();
  }

  async #stopThread(thread: Thread, reason: string): Promise<void> {
    thread.endsBecause = reason;
    await thread.worker.terminate();
  }
}

const exit = (reason: string): FunctionFailure => ({
  errorType: 'Runtime.ExitError',
  errorMessage: `Runtime exited with error: ${reason}`,
});

const timedOut = (errorMessage: string): FunctionFailure => ({ errorType: 'Sandbox.Timedout', errorMessage });
