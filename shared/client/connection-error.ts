/**
 * Why there is no usable answer: no connection, or it broke before an answer; no sign of life for `timeout`; the answer
 * broke off; the answer is not what the interface promises.
 */
export type ConnectionFailure = 'network' | 'timeout' | 'broken-off' | 'unreadable';

/** The service gave no answer, or none that can be used. What became of the request is not known. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
  readonly reason: ConnectionFailure;
  /** Requests that the call has sent. */
  readonly attempts: number;

  constructor(reason: ConnectionFailure, message: string, { attempts, cause }: { attempts: number; cause?: unknown }) {
    super(message, cause === undefined ? {} : { cause });
    this.reason = reason;
    this.attempts = attempts;
  }
}
