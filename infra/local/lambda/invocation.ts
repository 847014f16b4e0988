/** A function, as the worker thread has to know it. */
export interface FunctionSettings {
  /** Folder with the bundle. */
  readonly codeFolder: string;
  /** `file.export` of the handler. */
  readonly handler: string;
  readonly functionName: string;
  readonly functionArn: string;
  readonly memoryMegabytes: number;
  readonly timeoutSeconds: number;
  readonly logGroupName: string;
  /** From which level on Lambda writes lines of its own: of every invocation, or of one that has failed. */
  readonly systemLogLevel: 'INFO' | 'WARN';
  readonly variables: Readonly<Record<string, string>>;
}

/** Messages to the worker thread. An `id` names an event. */
export type WorkerMessage =
  | {
      readonly kind: 'invoke';
      readonly id: string;
      readonly functionName: string;
      /** JSON text. */
      readonly event: string;
      /** Unix milliseconds at which the function times out. */
      readonly deadline: number;
    }
  /** Its reader has enough of the response for now, wants more, or is out of time. */
  | { readonly kind: 'hold' | 'resume' | 'timedOut'; readonly id: string }
  | { readonly kind: 'ping' };

/** Messages of the worker thread. */
export type RuntimeMessage =
  | { readonly kind: 'pong' }
  | { readonly kind: 'log'; readonly group: string | undefined; readonly text: string }
  /** A part of a streamed response. */
  | { readonly kind: 'chunk'; readonly id: string; readonly chunk: Uint8Array }
  /** `payload`: JSON text; empty after a streamed response. Loading took time only before the first event. */
  | {
      readonly kind: 'succeeded';
      readonly id: string;
      readonly payload: string;
      readonly initDurationMs: number | undefined;
    }
  | { readonly kind: 'failed'; readonly id: string; readonly failure: FunctionFailure };

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
