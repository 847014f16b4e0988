import type { ErrorCode } from '../contract/errors.ts';

export type { ErrorCode };

/** The service has answered with an error. Its message is for people, its code for programs. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** `UNEXPECTED_ANSWER` where something on the way has answered. The service may know more codes than this client. */
  readonly code: ErrorCode | 'UNEXPECTED_ANSWER' | (string & {});
  /** HTTP status of the answer. */
  readonly status: number;
  /** Whole seconds to wait before the next request; undefined where the answer does not say. */
  readonly retryAfter: number | undefined;
  /** For questions to the admin of the service. */
  readonly requestId: string | undefined;
  /** Of a refused change (409, 412): the ETag that the stock entry has by now. */
  readonly etag: string | undefined;
  /** The answer itself, for its other headers. Its body is read already. */
  readonly response: Response;

  constructor(response: Response, { code = 'UNEXPECTED_ANSWER', message }: { code?: string; message?: string }) {
    super(message ?? `The service answered with status ${response.status} and without an Error body.`);
    this.code = code;
    this.status = response.status;
    const retryAfter = response.headers.get('Retry-After') ?? '';
    this.retryAfter = /^\d{1,9}$/.test(retryAfter) ? Number(retryAfter) : undefined;
    this.requestId = response.headers.get('x-amzn-RequestId') ?? undefined;
    this.etag = response.headers.get('ETag') ?? undefined;
    this.response = response;
  }
}

/** The code and the message of an Error body; neither where the text is none. */
export function readErrorBody(text: string): { code?: string; message?: string } {
  try {
    const { code, message }: { code?: unknown; message?: unknown } = Object(JSON.parse(text));
    return typeof code === 'string' && typeof message === 'string' ? { code, message } : {};
  } catch {
    return {};
  }
}

/** No answer; none within `timeout`; an answer that broke off; one that is not what the interface promises. */
export type ConnectionFailure = 'network' | 'timeout' | 'broken-off' | 'unreadable';

/** The service gave no answer, or none that can be used. What became of the request is not known. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
  readonly reason: ConnectionFailure;

  /** @param request such as `GET https://…` */
  constructor(reason: ConnectionFailure, request: string, cause: unknown) {
    // Node.js says in the cause of its error what has failed.
    const { message, cause: inner }: { message?: string; cause?: { message?: string; code?: string } } = Object(cause);
    const detail = [message, inner?.message || inner?.code].filter(Boolean).join(': ') || String(cause);
    super(`${request} got no usable answer (${reason}): ${detail}`, { cause });
    this.reason = reason;
  }
}
