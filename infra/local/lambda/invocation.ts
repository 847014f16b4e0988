import inspector from 'node:inspector';

/** A function, as a worker thread, which starts with a list of them, has to know it. */
export interface FunctionSettings {
  /** Folder with the bundle. */
  readonly codeDirectory: string;
  /** `file.export` of the handler. */
  readonly handler: string;
  readonly functionName: string;
  readonly timeoutSeconds: number;
  readonly logGroupName: string;
  /** `INFO`: Lambda writes a line of its own about every invocation, otherwise about those that have failed. */
  readonly systemLogLevel: string;
  readonly variables: Readonly<Record<string, string>>;
}

/** An event that a function is to run. */
export interface Invocation {
  readonly kind: 'invoke';
  readonly id: string;
  readonly functionName: string;
  /** JSON text. */
  readonly event: string;
  /** Counts from when the thread begins the event. */
  readonly timeoutMs: number;
  /** Unix milliseconds. No caller waits for an event that begins later. */
  readonly beginsUntil: number;
}

/**
 * Messages to the worker thread: the reader of a response has enough for now, or wants more; no more events may begin.
 */
export type WorkerMessage =
  Invocation | { readonly kind: 'hold' | 'resume'; readonly id: string } | { readonly kind: 'retire' };

/**
 * Messages of the worker thread: text for a log group, the beginning of an event, a part of a response, the event's
 * end.
 */
export type RuntimeMessage =
  | { readonly kind: 'log'; readonly group: string | undefined; readonly text: string }
  | { readonly kind: 'begun'; readonly id: string }
  | { readonly kind: 'retired' }
  | { readonly kind: 'chunk'; readonly id: string; readonly chunk: Uint8Array }
  | ({ readonly kind: 'ended'; readonly id: string } & Outcome);

/** How an event ended. */
export interface Outcome {
  /** JSON text; empty after a streamed response. */
  readonly payload?: string;
  readonly failure?: FunctionFailure;
  /** What loading took, before the first event. */
  readonly initDurationMs?: number | undefined;
}

/** What Lambda reports of a function that failed. */
export interface FunctionFailure {
  readonly errorType: string;
  readonly errorMessage: string;
}

/** A function failed: its own error, a crash, a time-out. */
export class FunctionError extends Error {
  override readonly name = 'FunctionError';
  readonly failure: FunctionFailure;

  constructor(failure: FunctionFailure) {
    super(`${failure.errorType}: ${failure.errorMessage}`);
    this.failure = failure;
  }
}

/**
 * A time-out, in milliseconds: under a debugger, which may stop a function for as long as its user likes, the longest.
 */
export const timeOutMs = (milliseconds: number): number => (inspector.url() === undefined ? milliseconds : 2 ** 31 - 1);
