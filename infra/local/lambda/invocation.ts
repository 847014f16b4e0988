import inspector from 'node:inspector';

/** A function's configuration for the worker thread. */
export interface FunctionSettings {
  /** Directory of the bundle. */
  readonly codeDirectory: string;
  /** `file.export` of the handler. */
  readonly handler: string;
  readonly functionName: string;
  readonly timeoutSeconds: number;
  readonly logGroupName: string;
  /** `INFO`: Lambda logs every invocation, otherwise only failed ones. */
  readonly systemLogLevel: string;
  readonly variables: Readonly<Record<string, string>>;
}

/** An event for a function. */
export interface Invocation {
  readonly kind: 'invoke';
  readonly id: string;
  readonly functionName: string;
  /** JSON text. */
  readonly event: string;
  /** Starts when the thread starts the event. */
  readonly timeoutMs: number;
  /** Unix milliseconds. No caller waits for an event that begins later. */
  readonly beginsUntil: number;
}

/**
 * Messages to the worker thread: pause or resume a response for its reader; start no more events.
 */
export type WorkerMessage =
  Invocation | { readonly kind: 'hold' | 'resume'; readonly id: string } | { readonly kind: 'retire' };

/**
 * Messages of the worker thread: text for a log group, the start of an event, a chunk of a response, the event's
 * end.
 */
export type RuntimeMessage =
  | { readonly kind: 'log'; readonly group: string | undefined; readonly text: string }
  | { readonly kind: 'begun'; readonly id: string }
  | { readonly kind: 'retired' }
  | { readonly kind: 'chunk'; readonly id: string; readonly chunk: Uint8Array }
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

/**
 * A timeout, in milliseconds; the maximum under a debugger, which may pause a function.
 */
export const timeOutMs = (milliseconds: number): number => (inspector.url() === undefined ? milliseconds : 2 ** 31 - 1);
