/** What the worker thread starts with. */
export interface ThreadData {
  readonly settings: readonly FunctionSettings[];
  /** One number, which the thread counts up as long as no function blocks it. */
  readonly beats: Int32Array;
}

/** A function, as the worker thread has to know it. */
export interface FunctionSettings {
  /** Folder with the bundle. */
  readonly codeFolder: string;
  /** `file.export` of the handler. */
  readonly handler: string;
  readonly functionName: string;
  readonly timeoutSeconds: number;
  readonly logGroupName: string;
  /** `INFO`: Lambda writes a line of its own about every invocation, otherwise about those that have failed. */
  readonly systemLogLevel: string;
  readonly variables: Readonly<Record<string, string>>;
}

/** An event that a function is to run, and the time at which it times out, in Unix milliseconds. */
export interface Invocation {
  readonly kind: 'invoke';
  readonly id: string;
  readonly functionName: string;
  /** JSON text. */
  readonly event: string;
  readonly deadline: number;
}

/** Messages to the worker thread. The reader of a response has enough for now, wants more, or its time is over. */
export type WorkerMessage = Invocation | { readonly kind: 'hold' | 'resume' | 'timedOut'; readonly id: string };

/** Messages of the worker thread: text for a log group, a part of a response, the end of an event. */
export type RuntimeMessage =
  | { readonly kind: 'log'; readonly group: string | undefined; readonly text: string }
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
