/** What starts an execution environment, as it crosses to the worker thread. */
export interface EnvironmentSettings {
  /** Folder with the bundle. */
  readonly codeFolder: string;
  /** File of the runtime as JavaScript, which is loaded with less memory than its source; undefined where there is none. */
  readonly runtime?: string | undefined;
  /** `file.export` of the handler. */
  readonly handler: string;
  readonly functionName: string;
  readonly functionArn: string;
  readonly memoryMegabytes: number;
  readonly logGroupName: string;
}

/** One event for an execution environment. */
export interface Invocation {
  readonly requestId: string;
  /** JSON text. */
  readonly event: string;
  /** Unix milliseconds at which the function times out. */
  readonly deadline: number;
}

/** What Lambda reports of a function that failed. */
export interface FunctionFailure {
  readonly errorType: string;
  readonly errorMessage: string;
}

/** Messages to an execution environment. */
export type HostMessage =
  | { readonly kind: 'invoke'; readonly invocation: Invocation }
  /** The last chunk has been taken. */
  | { readonly kind: 'taken' };

/** Messages of an execution environment. */
export type EnvironmentMessage =
  /** A part of a streamed response; the next comes once this has been taken. */
  | { readonly kind: 'chunk'; readonly chunk: Uint8Array }
  /** It has loaded, or run an event. `payload`: JSON text; empty after a streamed response. */
  | { readonly kind: 'succeeded'; readonly payload: string }
  | { readonly kind: 'failed'; readonly failure: FunctionFailure };

/** A function failed: its own error, a crash, a time-out. */
export class FunctionError extends Error {
  override readonly name = 'FunctionError';
  readonly failure: FunctionFailure;

  constructor(failure: FunctionFailure) {
    super(`${failure.errorType}: ${failure.errorMessage}`);
    this.failure = failure;
  }
}
