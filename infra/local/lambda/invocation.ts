import inspector from 'node:inspector';
import type { ResponsePart } from './response-stream.ts';

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

/** An event for a function: a message to the worker thread. */
export interface Invocation {
  readonly id: string;
  readonly functionName: string;
  /** JSON text. */
  readonly event: string;
  readonly timeoutMs: number;
  /** Takes a streamed response. */
  readonly response?: WritableStream<ResponsePart> | undefined;
}

/** Asks the thread whether it is blocked: if not, it answers at once. */
export const PING = 'ping';

/** Messages of the worker thread: text for a log group, an answer to {@link PING}, the end of an event. */
export type RuntimeMessage =
  | { readonly kind: 'log'; readonly group: string | undefined; readonly text: string }
  | { readonly kind: 'pong' }
  | ({ readonly kind: 'ended'; readonly id: string } & Outcome);

/** The outcome of an event. */
export interface Outcome {
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
export const effectiveTimeout = (milliseconds: number): number =>
  inspector.url() === undefined ? milliseconds : 2 ** 31 - 1;
