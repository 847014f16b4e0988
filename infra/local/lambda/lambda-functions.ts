import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { Worker } from 'node:worker_threads';
import { compileCache } from '../compile-cache.ts';
import { writeNotice } from '../host-error.ts';
import {
  FunctionError,
  type FunctionSettings,
  type Outcome,
  type RuntimeMessage,
  timeOutMs,
  type WorkerMessage,
} from './invocation.ts';

/** Max memory of all functions together. */
const HEAP = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 8 };

/** Max time of an event in the queue: the gateway's timeout. */
const MAX_WAIT_MS = 29_000;

/** How long events may run in a retired thread. */
const GRACE_MS = 1_000;

/** Appends text to a log group. */
export type Log = (group: string, text: string) => void;

/** A Lambda function. Input and output are JSON text. */
export interface LambdaFunction {
  readonly name: string;
  /** @throws FunctionError */
  invoke(event: string): Promise<string>;
  /**
   * Its stream, or its result. A function whose reader disconnects keeps running, as on AWS. Fails with FunctionError.
   */
  stream(event: string): Readable;
}

/** An event in a thread. */
interface UnderWay {
  readonly id: string;
  readonly settings: FunctionSettings;
  readonly event: string;
  readonly beginsUntil: number;
  thread: Thread;
  /** When the thread started it. */
  startedAt?: number;
  timer?: NodeJS.Timeout;
  /** Receives a chunk of a streamed response. */
  readonly take: (chunk: Uint8Array) => void;
  readonly resolve: (payload: string) => void;
  readonly reject: (error: FunctionError) => void;
}

interface Thread {
  readonly worker: Worker;
  /** Why it was retired: it gets no more events. */
  endsBecause?: string;
  /** Whether it starts no more events either. */
  isRetired?: true;
}

/**
 * Lambda functions that run their events concurrently in one worker thread. A crash fails all events of the thread. A
 * function that has timed out can be stopped only with the thread: concurrent events get one second to finish; those
 * that are new or not started run in another thread.
 *
 * Lambda rejects an event or a result of more than 6 MB. Here the functions reject such a request themselves, with the
 * same 413, and none has such a result.
 */
export class LambdaFunctions {
  readonly #settings: readonly FunctionSettings[];
  readonly #log: Log;
  readonly #underWay = new Map<string, UnderWay>();
  /** The thread for new events. */
  #thread: Thread | undefined;

  constructor(settings: readonly FunctionSettings[], log: Log) {
    this.#settings = settings;
    this.#log = log;
  }

  /** @param settings one of those in the constructor */
  byName(settings: FunctionSettings): LambdaFunction {
    return {
      name: settings.functionName,
      invoke: (event) => this.#run(randomUUID(), settings, event, () => undefined),
      stream: (event) => this.#stream(settings, event),
    };
  }

  /** Stops the thread, with its events in progress. */
  async stop(): Promise<void> {
    const worker = this.#thread?.worker;
    this.reload();
    for (const { id } of this.#underWay.values()) this.#end(id, exit('it was stopped'));
    await worker?.terminate();
  }

  /** Runs new events with the current code. */
  reload(): void {
    if (this.#thread) this.#retire(this.#thread, 'its code was replaced');
  }

  /** A function whose stream is read slowly waits, until it times out. */
  #stream(settings: FunctionSettings, event: string): Readable {
    const id = randomUUID();
    let isHeld = false;
    const resume = (): void => {
      if (isHeld) this.#post(this.#underWay.get(id)?.thread, { kind: 'resume', id });
      isHeld = false;
    };
    const output = new Readable({
      read: resume,
      destroy: (error, done) => {
        resume();
        done(error);
      },
    });
    const take = (chunk: Uint8Array): void => {
      if (output.destroyed || output.push(chunk) || isHeld) return;
      isHeld = true;
      this.#post(this.#underWay.get(id)?.thread, { kind: 'hold', id });
    };
    const finish = async (): Promise<void> => {
      take(Buffer.from(await this.#run(id, settings, event, take)));
      output.push(null);
    };
    finish().catch((error: Error) => output.destroy(error));
    return output;
  }

  #run(id: string, settings: FunctionSettings, event: string, take: UnderWay['take']): Promise<string> {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const beginsUntil = Date.now() + timeOutMs(MAX_WAIT_MS);
    this.#send({ id, settings, event, beginsUntil, take, resolve, reject });
    return promise;
  }

  #send(event: Omit<UnderWay, 'thread'>): void {
    this.#thread ??= this.#start();
    this.#underWay.set(event.id, { ...event, thread: this.#thread });
    const { functionName, timeoutSeconds } = event.settings;
    const timeoutMs = timeOutMs(timeoutSeconds * 1_000);
    const { id, beginsUntil } = event;
    this.#post(this.#thread, { kind: 'invoke', id, functionName, event: event.event, timeoutMs, beginsUntil });
  }

  #post(thread: Thread | undefined, message: WorkerMessage): void {
    thread?.worker.postMessage(message);
  }

  #begin(id: string): void {
    const begun = this.#underWay.get(id);
    if (!begun) return;
    begun.startedAt = performance.now();
    begun.timer = setTimeout(() => this.#timeOut(begun), timeOutMs(begun.settings.timeoutSeconds * 1_000));
  }

  #timeOut({ id, settings: { functionName, timeoutSeconds }, thread }: UnderWay): void {
    const what = `${functionName} timed out after ${timeoutSeconds} s`;
    writeNotice(`${what}. Concurrent events have ${GRACE_MS / 1_000} s to finish.`);
    this.#end(id, { failure: { errorType: 'Sandbox.Timedout', errorMessage: 'Task timed out' } });
    this.#retire(thread, what);
  }

  /** Retires a thread: it gets no more events, and ends with its last one, or after the grace period. */
  #retire(thread: Thread, reason: string): void {
    if (this.#thread === thread) this.#thread = undefined;
    if (thread.endsBecause !== undefined) return;
    thread.endsBecause = reason;
    this.#post(thread, { kind: 'retire' });
    const timer = setTimeout(() => void thread.worker.terminate(), GRACE_MS);
    thread.worker.once('exit', () => clearTimeout(timer));
  }

  #endIfIdle(thread: Thread): void {
    if (!thread.isRetired) return;
    if (this.#eventsOf(thread).every(({ startedAt }) => startedAt === undefined)) void thread.worker.terminate();
  }

  #eventsOf(thread: Thread): UnderWay[] {
    return [...this.#underWay.values()].filter((each) => each.thread === thread);
  }

  #start(): Thread {
    const worker = new Worker(new URL('runtime.worker.ts', import.meta.url), {
      workerData: this.#settings,
      env: compileCache(),
      execArgv: [],
      resourceLimits: HEAP,
    });
    const thread: Thread = { worker };
    let failure: string | undefined;
    worker.on('message', (message: RuntimeMessage) => this.#receive(message, thread));
    worker.on('error', (error: Error) => (failure = error.message));
    worker.on('exit', (code) => this.#exited(thread, failure ?? `exit status ${code}`));
    return thread;
  }

  #receive(message: RuntimeMessage, thread: Thread): void {
    if (message.kind === 'chunk') this.#underWay.get(message.id)?.take(message.chunk);
    else if (message.kind === 'begun') this.#begin(message.id);
    else if (message.kind === 'ended') this.#end(message.id, message);
    else if (message.kind === 'retired') {
      thread.isRetired = true;
      this.#endIfIdle(thread);
    } else if (message.kind === 'log') {
      // A crash between two events may be any function's.
      if (message.group === undefined) process.stderr.write(message.text);
      else this.#log(message.group, message.text);
    }
  }

  /** Fails the started events of a thread; after a crash, the rest too. */
  #exited(thread: Thread, reason: string): void {
    if (this.#thread === thread) this.#thread = undefined;
    const { endsBecause } = thread;
    for (const event of this.#eventsOf(thread)) {
      if (event.startedAt === undefined && endsBecause !== undefined) this.#send(event);
      else this.#end(event.id, exit(endsBecause ?? reason));
    }
  }

  /** Ends an event, and logs the used parts of Lambda's own line (Telemetry API, `platform.report`). */
  #end(id: string, { payload = '', failure, initDurationMs }: Outcome): void {
    const ended = this.#underWay.get(id);
    if (!ended) return;
    const { settings, startedAt = performance.now(), thread } = ended;
    this.#underWay.delete(id);
    clearTimeout(ended.timer);
    if (failure || settings.systemLogLevel === 'INFO') {
      const durationMs = performance.now() - startedAt - (initDurationMs ?? 0);
      const record = { requestId: id, metrics: { durationMs, initDurationMs }, errorType: failure?.errorType };
      const line = { time: new Date().toISOString(), type: 'platform.report', record };
      this.#log(settings.logGroupName, `${JSON.stringify(line)}\n`);
    }
    if (failure) ended.reject(new FunctionError(failure));
    else ended.resolve(payload);
    this.#endIfIdle(thread);
  }
}

const exit = (reason: string): Outcome => ({
  failure: { errorType: 'Runtime.ExitError', errorMessage: `Runtime exited with error: ${reason}` },
});
