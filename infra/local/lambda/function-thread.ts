import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { Worker } from 'node:worker_threads';
import { compileCache } from '../compile-cache.ts';
import {
  type FunctionFailure,
  FunctionError,
  type FunctionSettings,
  type RuntimeMessage,
  type WorkerMessage,
} from './invocation.ts';

/** What all functions together may keep. */
const HEAP = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 8 };

const PING_MS = 250;
/** A thread that leaves so many pings in a row without an answer, for a second, hangs. */
const MOST_UNANSWERED = 4;

/** Writes a text to the end of a log group. */
export type Log = (group: string, text: string) => void;

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

/**
 * One worker thread, in which functions run their events side by side. A time-out fails one event. A crash fails all that
 * are under way, and so does a function that hangs: it can be ended only with the thread.
 */
export class FunctionThread {
  readonly #worker: Worker;
  readonly #log: Log;
  readonly #underWay = new Map<string, UnderWay>();
  readonly #heartbeat: NodeJS.Timeout;
  /** Pings since the last message of the thread; undefined until it is up. */
  #unanswered: number | undefined;
  #isAlive = true;
  #isRetired = false;

  constructor(functions: readonly FunctionSettings[], log: Log) {
    this.#log = log;
    this.#worker = new Worker(new URL('runtime.worker.ts', import.meta.url), {
      workerData: functions,
      env: compileCache(),
      execArgv: [],
      resourceLimits: HEAP,
    });
    this.#worker.on('message', (message: RuntimeMessage) => this.#receive(message));
    this.#worker.on('error', (error: Error) => this.#die(`Runtime exited with error: ${error.message}`));
    this.#worker.on('exit', (code) => this.#die(`Runtime exited with error: exit status ${code}`));
    this.#heartbeat = setInterval(() => this.#ping(), PING_MS);
  }

  /** Whether it takes events. */
  get isAlive(): boolean {
    return this.#isAlive;
  }

  /**
   * Runs an event.
   *
   * @param event JSON text
   * @returns the result as JSON text; empty where the function streams its response
   * @throws FunctionError where the function fails or times out
   */
  invoke(settings: FunctionSettings, event: string): Promise<string> {
    return this.#run(randomUUID(), settings, event, () => undefined);
  }

  /**
   * Runs an event for its response stream. A function whose reader has left runs on, as on AWS; one whose stream is read
   * slowly waits, until it times out.
   *
   * @returns what the function streams, or its result as JSON text; fails with FunctionError
   */
  stream(settings: FunctionSettings, event: string): Readable {
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
      output.push(await this.#run(id, settings, event, take));
      output.push(null);
    };
    finish().catch((error: Error) => output.destroy(error));
    return output;
  }

  /** Takes no more events, and ends once those under way have. */
  retire(): void {
    this.#isRetired = true;
    if (this.#underWay.size === 0) void this.stop();
  }

  /** Breaks off what is under way. */
  async stop(): Promise<void> {
    if (!this.#isAlive) return;
    const exit = once(this.#worker, 'exit');
    this.#die('Runtime exited: it was stopped');
    await exit;
  }

  #run(id: string, settings: FunctionSettings, event: string, take: UnderWay['take']): Promise<string> {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const timeoutMs = settings.timeoutSeconds * 1_000;
    const timer = setTimeout(() => this.#timeOut(id), timeoutMs);
    this.#underWay.set(id, { settings, startedAt: performance.now(), timer, take, resolve, reject });
    const { functionName } = settings;
    this.#post({ kind: 'invoke', id, functionName, event, deadline: Date.now() + timeoutMs });
    return promise;
  }

  #post(message: WorkerMessage): void {
    this.#worker.postMessage(message);
  }

  #receive(message: RuntimeMessage): void {
    this.#unanswered = 0;
    if (message.kind === 'pong') return;
    if (message.kind === 'log') return this.#write(message.group, message.text);
    if (message.kind === 'chunk') return this.#underWay.get(message.id)?.take(message.chunk);
    if (message.kind === 'failed') return this.#fail(message.id, message.failure);
    const { id, payload, initDurationMs } = message;
    return this.#end(id, { initDurationMs })?.resolve(payload);
  }

  /** A crash between two events may be of any function. */
  #write(group: string | undefined, text: string): void {
    if (group === undefined) process.stderr.write(text);
    else this.#log(group, text);
  }

  #ping(): void {
    if (this.#unanswered === MOST_UNANSWERED) return this.#die('Runtime exited: a function did not let it answer');
    if (this.#unanswered !== undefined) this.#unanswered += 1;
    return this.#post({ kind: 'ping' });
  }

  #timeOut(id: string): void {
    this.#fail(id, { errorType: 'Sandbox.Timedout', errorMessage: 'Task timed out' });
    this.#post({ kind: 'timedOut', id });
  }

  #fail(id: string, failure: FunctionFailure): void {
    this.#end(id, { errorType: failure.errorType })?.reject(new FunctionError(failure));
  }

  #die(errorMessage: string): void {
    if (!this.#isAlive) return;
    this.#isAlive = false;
    clearInterval(this.#heartbeat);
    for (const id of this.#underWay.keys()) this.#fail(id, { errorType: 'Runtime.ExitError', errorMessage });
    void this.#worker.terminate();
  }

  /** Takes an event out, and logs its end as far as it is read of Lambda's own line (Telemetry API, `platform.report`). */
  #end(id: string, outcome: { initDurationMs?: number | undefined; errorType?: string }): UnderWay | undefined {
    const ended = this.#underWay.get(id);
    if (!ended) return undefined;
    this.#underWay.delete(id);
    clearTimeout(ended.timer);
    const { initDurationMs, errorType } = outcome;
    if (errorType !== undefined || ended.settings.systemLogLevel === 'INFO') {
      const durationMs = performance.now() - ended.startedAt - (initDurationMs ?? 0);
      const record = { requestId: id, metrics: { durationMs, initDurationMs }, errorType };
      const line = { time: new Date().toISOString(), type: 'platform.report', record };
      this.#log(ended.settings.logGroupName, `${JSON.stringify(line)}\n`);
    }
    if (this.#isRetired && this.#underWay.size === 0) void this.stop();
    return ended;
  }
}
