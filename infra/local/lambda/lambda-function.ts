import { randomUUID } from 'node:crypto';
import { devNull } from 'node:os';
import { Readable } from 'node:stream';
import type { LogSink } from '../log-sink.ts';
import { account, localCredentials } from '../../local-endpoint.ts';
import { type ChunkTaker, ExecutionEnvironment } from './execution-environment.ts';
import { InvocationQueue } from './invocation-queue.ts';
import { type EnvironmentSettings, FunctionError } from './invocation.ts';

/** Environments of all functions together, some 25 MB each: on AWS there are a thousand, a laptop has memory for a few. */
const MAX_ENVIRONMENTS = 6;
/** Long enough for requests that are sent by hand: to start one takes a tenth of a second. */
const IDLE_MS = 30_000;

export interface LambdaFunctionSettings extends EnvironmentSettings {
  readonly timeoutSeconds: number;
  /** From which level on Lambda writes lines of its own: of every invocation, or of one that has failed. */
  readonly systemLogLevel: 'INFO' | 'WARN';
  readonly variables: Readonly<Record<string, string>>;
  /** How long an environment stays that has nothing to do, in milliseconds. */
  readonly idleMs?: number;
}

/** A Lambda function: execution environments that take one event at a time, more of them under concurrency. */
export class LambdaFunction {
  readonly #settings: LambdaFunctionSettings;
  readonly #log: LogSink;
  /** With the timers that end them; the one that was used last comes last. */
  readonly #idle = new Map<ExecutionEnvironment, NodeJS.Timeout>();
  readonly #all = new Set<ExecutionEnvironment>();
  /** Those that run code which was replaced: they get no other event. */
  readonly #outdated = new WeakSet<ExecutionEnvironment>();
  /** Those of all functions that run beside each other: each may always have one, and more only as long as there is room. */
  readonly #ofAll: Set<ExecutionEnvironment>;
  readonly #queue: InvocationQueue;
  #closed = false;

  /** @param ofAll the environments of the functions that run beside it */
  constructor(settings: LambdaFunctionSettings, log: LogSink, ofAll = new Set<ExecutionEnvironment>()) {
    this.#settings = settings;
    this.#log = log;
    this.#ofAll = ofAll;
    this.#queue = new InvocationQueue(() => this.#all.size + Math.max(0, MAX_ENVIRONMENTS - ofAll.size));
  }

  /**
   * Invokes the function synchronously. Lambda refuses an event or a result of more than 6 MB: here the functions refuse such a
   * request themselves, with the same 413, and none has such a result.
   *
   * @param event JSON text
   * @returns the result as JSON text; empty where the function streams its response
   * @throws FunctionError
   */
  invoke(event: string): Promise<string> {
    return this.#enqueue(event, () => undefined);
  }

  /**
   * Invokes the function for its response stream. A function whose reader has left runs on, as on AWS; one whose stream
   * is read slowly waits, until it times out.
   *
   * @param event JSON text
   * @param client whose request it is: the other clients have environments too
   * @returns what the function streams, or its result as JSON text; fails with FunctionError
   */
  stream(event: string, client?: string): Readable {
    /** Called when the reader wants more, or leaves. */
    let goOn: (() => void) | undefined;
    const output = new Readable({
      read: () => goOn?.(),
      destroy: (error, done) => {
        goOn?.();
        done(error);
      },
    });
    const take = (chunk: Uint8Array): Promise<void> | undefined => {
      if (output.destroyed || output.push(chunk)) return undefined;
      return new Promise<void>((resolve) => {
        goOn = resolve;
      });
    };
    const finish = async (): Promise<void> => {
      output.push(await this.#enqueue(event, take, client));
      output.push(null);
    };
    finish().catch((error: Error) => output.destroy(error));
    return output;
  }

  #enqueue(event: string, take: ChunkTaker, client?: string): Promise<string> {
    return this.#queue.run(client, () => this.#run(event, take));
  }

  async #run(event: string, take: ChunkTaker): Promise<string> {
    const requestId = randomUUID();
    let startedAt = performance.now();
    let initDurationMs: number | undefined;
    let environment = this.#idleEnvironment();
    let errorType: string | undefined;
    try {
      if (!environment) {
        environment = await this.#newEnvironment();
        initDurationMs = performance.now() - startedAt;
        startedAt += initDurationMs;
      }
      const deadline = Date.now() + this.#settings.timeoutSeconds * 1_000;
      return await environment.invoke({ requestId, event, deadline }, take);
    } catch (error) {
      if (error instanceof FunctionError) ({ errorType } = error.failure);
      throw error;
    } finally {
      if (environment?.isAlive) this.#rest(environment);
      this.#report(requestId, { durationMs: performance.now() - startedAt, initDurationMs }, errorType);
    }
  }

  /** Logs the end of an invocation, as far as it is read of Lambda's own line (Telemetry API, `platform.report`). */
  #report(requestId: string, metrics: object, errorType: string | undefined): void {
    if (this.#closed || (errorType === undefined && this.#settings.systemLogLevel !== 'INFO')) return;
    const record = { requestId, metrics, errorType };
    this.#log(`${JSON.stringify({ time: new Date().toISOString(), type: 'platform.report', record })}\n`);
  }

  get codeFolder(): string {
    return this.#settings.codeFolder;
  }

  /** Lets every event from now on run the code as it is in its folder; what is under way finishes. */
  renew(): void {
    for (const environment of this.#all) this.#outdated.add(environment);
    for (const idle of this.#idle.keys()) void idle.stop();
  }

  /** Breaks off what is running and starting. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#all].map((environment) => environment.stop()));
  }

  /** The one that was used last, so that those which are not needed come to their end. */
  #idleEnvironment(): ExecutionEnvironment | undefined {
    const idle = [...this.#idle.keys()].at(-1);
    if (idle) this.#wake(idle);
    return idle;
  }

  #wake(environment: ExecutionEnvironment): void {
    clearTimeout(this.#idle.get(environment));
    this.#idle.delete(environment);
  }

  /** Keeps an environment for later events, unless there are too many. */
  #rest(environment: ExecutionEnvironment): void {
    const isOneTooMany = this.#ofAll.size > MAX_ENVIRONMENTS && this.#all.size > 1;
    if (isOneTooMany || this.#outdated.has(environment)) return void environment.stop();
    const { idleMs = IDLE_MS } = this.#settings;
    this.#idle.set(environment, setTimeout(() => void environment.stop(), idleMs).unref());
  }

  async #newEnvironment(): Promise<ExecutionEnvironment> {
    if (this.#closed) throw new FunctionError({ errorType: 'Closed', errorMessage: 'The host is stopping' });
    const environment = new ExecutionEnvironment(this.#settings, this.#variables(), this.#log);
    for (const set of [this.#all, this.#ofAll]) set.add(environment);
    environment.onEnd(() => {
      for (const set of [this.#all, this.#ofAll]) set.delete(environment);
      this.#wake(environment);
    });
    await environment.load();
    return environment;
  }

  /** The variables that Lambda sets beside the function's own. No shared AWS configuration is read, as there. */
  #variables(): Record<string, string> {
    const { functionName, memoryMegabytes, handler, codeFolder, logGroupName, variables } = this.#settings;
    return {
      ...variables,
      AWS_REGION: account.region,
      AWS_DEFAULT_REGION: account.region,
      AWS_ACCESS_KEY_ID: localCredentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: localCredentials.secretAccessKey,
      AWS_CONFIG_FILE: devNull,
      AWS_SHARED_CREDENTIALS_FILE: devNull,
      AWS_LAMBDA_FUNCTION_NAME: functionName,
      AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(memoryMegabytes),
      AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
      AWS_LAMBDA_LOG_GROUP_NAME: logGroupName,
      LAMBDA_TASK_ROOT: codeFolder,
      TZ: ':UTC',
      _HANDLER: handler,
    };
  }
}
