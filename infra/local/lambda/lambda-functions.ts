import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { Worker } from 'node:worker_threads';
import { compileCache } from '../compile-cache.ts';
import {
  FunctionError,
  type FunctionSettings,
  type Outcome,
  type RuntimeMessage,
  type ThreadData,
  type WorkerMessage,
} from './invocation.ts';

/** What all functions together may keep. */
const HEAP = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 8 };

/** A thread whose event loop stands still for so long hangs. */
const LONGEST_BLOCK_MS = 1_000;

/** Writes a text to the end of a log group. */
export type Log = (group: string, text: string) => void;

/** A Lambda function. What it takes and gives is JSON text. */
export interface LambdaFunction {
  /** @throws FunctionError */
  invoke(event: string): Promise<string>;
  /** What it streams, or its result. A function whose reader has left runs on, as on AWS. Fails with FunctionError. */
  stream(event: string): Readable;
}

/** An event that a function runs. */
interface UnderWay {
  readonly settings: FunctionSettings;
  readonly startedAt: number;
  readonly timer: NodeJS.Timeout;
  /** Takes a part of a streamed response. */
  readonly take: (chunk: Uint8Array) => void;
  readonly resolve: (payload: string) => void;
  readonly reject: (error: FunctionError) => void;
}

interface Thread {
  readonly worker: Worker;
  readonly watchdog: NodeJS.Timeout;
}

/**
 * Lambda functions that run their events side by side in one worker thread. A time-out fails one event. A crash fails
 * all that are under way, and so does a function that hangs: it can be ended only with the thread. The next event
 * starts another.
 *
 * Lambda refuses an event or a result of more than 6 MB. Here the functions refuse such a request themselves, with the
 * same 413, and none has such a result.
 */
export class LambdaFunctions {
  readonly #settings: readonly FunctionSettings[];
  readonly #log: Log;
  readonly #underWay = new Map<string, UnderWay>();
  #thread: Thread | undefined;

  constructor(settings: readonly FunctionSettings[], log: Log) {
    this.#settings = settings;
    this.#log = log;
  }

  /** @param settings one of those of the constructor */
  byName(settings: FunctionSettings): LambdaFunction {
    return {
      invoke: (event) => this.#run(randomUUID(), settings, event, () => undefined),
      stream: (event) => this.#stream(settings, event),
    };
  }

  /** Ends the thread, with what is under way. */
  async stop(reason = 'it was stopped'): Promise<void> {
    const worker = this.#thread?.worker;
    this.#fail(`Runtime exited: ${reason}`);
    await worker?.terminate();
  }

  /** One whose stream is read slowly waits, until it times out. */
  #stream(settings: FunctionSettings, event: string): Readable {
    const id = randomUUID();
    let isHeld = false;
    const resume = (): void => {
      if (isHeld) this.#post({ kind: 'resume', id });
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
      this.#post({ kind: 'hold', id });
    };
    const finish = async (): Promise<void> => {
      take(Buffer.from(await this.#run(id, settings, event, take)));
      output.push(null);
    };
    finish().catch((error: Error) => output.destroy(error));
    return output;
  }

  #run(id: string, settings: FunctionSettings, event: string, take: UnderWay['take']): Promise<string> {
    this.#thread ??= this.#start();
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const timeoutMs = settings.timeoutSeconds * 1_000;
    const timer = setTimeout(() => this.#timeOut(id), timeoutMs);
    this.#underWay.set(id, { settings, startedAt: performance.now(), timer, take, resolve, reject });
    const { functionName } = settings;
    this.#post({ kind: 'invoke', id, functionName, event, deadline: Date.now() + timeoutMs });
    return promise;
  }

  #timeOut(id: string): void {
    this.#end(id, { failure: { errorType: 'Sandbox.Timedout', errorMessage: 'Task timed out' } });
    this.#post({ kind: 'timedOut', id });
  }

  #post(message: WorkerMessage): void {
    this.#thread?.worker.postMessage(message);
  }

  #start(): Thread {
    const beats = new Int32Array(new SharedArrayBuffer(4));
    const data: ThreadData = { settings: this.#settings, beats };
    const worker = new Worker(new URL('runtime.worker.ts', import.meta.url), {
      workerData: data,
      env: compileCache(),
      execArgv: [],
      resourceLimits: HEAP,
    });
    let lastBeat = 0;
    const watchdog = setInterval(() => {
      const beat = Atomics.load(beats, 0);
      // None yet: it is still loading its own code.
      if (beat > 0 && beat === lastBeat) void this.stop('a function did not let go of the thread');
      lastBeat = beat;
    }, LONGEST_BLOCK_MS);
    const thread: Thread = { worker, watchdog };
    const die = (reason: string): void => {
      if (this.#thread === thread) this.#fail(`Runtime exited with error: ${reason}`);
    };
    worker.on('message', (message: RuntimeMessage) => this.#receive(message));
    worker.on('error', (error: Error) => die(error.message));
    worker.on('exit', (code) => die(`exit status ${code}`));
    return thread;
  }

  #receive(message: RuntimeMessage): void {
    if (message.kind === 'chunk') this.#underWay.get(message.id)?.take(message.chunk);
    else if (message.kind === 'ended') this.#end(message.id, message);
    else if (message.kind === 'log') {
      // A crash between two events may be of any function.
      if (message.group === undefined) process.stderr.write(message.text);
      else this.#log(message.group, message.text);
    }
  }

  /** Fails all that is under way, and is rid of the thread. */
  #fail(errorMessage: string): void {
    clearInterval(this.#thread?.watchdog);
    this.#thread = undefined;
    for (const id of this.#underWay.keys())
      this.#end(id, { failure: { errorType: 'Runtime.ExitError', errorMessage } });
  }

  /** Ends an event, and logs it as far as it is read of Lambda's own line (Telemetry API, `platform.report`). */
  #end(id: string, { payload = '', failure, initDurationMs }: Outcome): void {
    const ended = this.#underWay.get(id);
    if (!ended) return;
    this.#underWay.delete(id);
    clearTimeout(ended.timer);
    if (failure || ended.settings.systemLogLevel === 'INFO') {
      const durationMs = performance.now() - ended.startedAt - (initDurationMs ?? 0);
      const record = { requestId: id, metrics: { durationMs, initDurationMs }, errorType: failure?.errorType };
      const line = { time: new Date().toISOString(), type: 'platform.report', record };
      this.#log(ended.settings.logGroupName, `${JSON.stringify(line)}\n`);
    }
    if (failure) ended.reject(new FunctionError(failure));
    else ended.resolve(payload);
  }
}
