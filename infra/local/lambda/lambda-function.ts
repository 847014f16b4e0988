import { randomUUID } from 'node:crypto';
import { devNull } from 'node:os';
import type { LogSink } from '../log-sink.ts';
import { account, localCredentials } from '../template/account.ts';
import { ExecutionEnvironment } from './execution-environment.ts';
import { type EnvironmentSettings, EventTooLargeError, FunctionError, MAX_PAYLOAD_BYTES } from './invocation.ts';

export interface LambdaFunctionSettings extends EnvironmentSettings {
  readonly timeoutSeconds: number;
  readonly variables: Readonly<Record<string, string>>;
}

/** Environments a function may have at once. On AWS there are a thousand; a laptop queues the requests beyond these. */
const MAX_ENVIRONMENTS = 4;

/** A Lambda function: execution environments that take one event at a time, more of them under concurrency. */
export class LambdaFunction {
  readonly arn: string;
  readonly #settings: LambdaFunctionSettings;
  readonly #log: LogSink;
  readonly #idle: ExecutionEnvironment[] = [];
  readonly #all = new Set<ExecutionEnvironment>();
  readonly #queue: (() => void)[] = [];
  #inUse = 0;
  #closed = false;

  constructor(settings: LambdaFunctionSettings, log: LogSink) {
    this.arn = settings.functionArn;
    this.#settings = settings;
    this.#log = log;
  }

  /**
   * Invokes the function synchronously.
   *
   * @param event JSON text
   * @returns the result as JSON text
   * @throws FunctionError, EventTooLargeError
   */
  async invoke(event: string): Promise<string> {
    if (Buffer.byteLength(event) > MAX_PAYLOAD_BYTES) throw new EventTooLargeError();
    await this.#turn();
    try {
      const environment = await this.#environment();
      const payload = await this.#run(environment, event);
      if (Buffer.byteLength(payload) <= MAX_PAYLOAD_BYTES) return payload;
      const errorMessage = `Response payload size exceeded maximum allowed payload size (${MAX_PAYLOAD_BYTES} bytes).`;
      throw new FunctionError({ errorType: 'Function.ResponseSizeTooLarge', errorMessage });
    } finally {
      this.#passOnTurn();
    }
  }

  /** Breaks off what is running and starting. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#all].map((environment) => environment.stop()));
  }

  /** Waits until an environment is idle or another may be started. */
  async #turn(): Promise<void> {
    if (this.#inUse < MAX_ENVIRONMENTS) this.#inUse += 1;
    else await new Promise<void>((resolve) => this.#queue.push(resolve));
  }

  /** Hands the turn to the next in the queue; it is not free in between, or a newcomer could take it too. */
  #passOnTurn(): void {
    const next = this.#queue.shift();
    if (next) next();
    else this.#inUse -= 1;
  }

  async #environment(): Promise<ExecutionEnvironment> {
    for (let idle = this.#idle.pop(); idle; idle = this.#idle.pop()) {
      if (idle.isAlive) return idle;
      this.#all.delete(idle);
    }
    if (this.#closed) throw new FunctionError({ errorType: 'Closed', errorMessage: 'The host is stopping' });
    const environment = new ExecutionEnvironment(this.#settings, this.#variables(), this.#log);
    this.#all.add(environment);
    try {
      await environment.load();
      return environment;
    } catch (error) {
      this.#all.delete(environment);
      throw error;
    }
  }

  async #run(environment: ExecutionEnvironment, event: string): Promise<string> {
    try {
      const deadline = Date.now() + this.#settings.timeoutSeconds * 1_000;
      return await environment.invoke({ requestId: randomUUID(), event, deadline });
    } finally {
      if (environment.isAlive) this.#idle.push(environment);
      else this.#all.delete(environment);
    }
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
