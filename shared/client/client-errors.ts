import type { ErrorCode } from '../contract/errors.ts';

export type { ErrorCode };

/** The service returned an error. Its message is for people, its code for programs. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** `UNEXPECTED_ANSWER` for a response without an Error body, such as a proxy's. The service may add codes. */
  readonly code: ErrorCode | 'UNEXPECTED_ANSWER' | (string & {});
  /** HTTP status of the response. */
  readonly status: number;
  /** Whole seconds to wait before the next request; undefined without the header `Retry-After`. */
  readonly retryAfter: number | undefined;
  /** For questions to the admin of the service. */
  readonly requestId: string | undefined;
  /** The current ETag of the stock entry, with 409 and 412. */
  readonly etag: string | undefined;
  /** The response itself, for its other headers. Its body has been read. */
  readonly response: Response;

  constructor(response: Response, { code = 'UNEXPECTED_ANSWER', message }: { code?: string; message?: string }) {
    super(message ?? `The service returned status ${response.status} without an Error body.`);
    this.code = code;
    this.status = response.status;
    const retryAfter = response.headers.get('Retry-After') ?? '';
    this.retryAfter = /^\d{1,9}$/.test(retryAfter) ? Number(retryAfter) : undefined;
    this.requestId = response.headers.get('x-amzn-RequestId') ?? undefined;
    this.etag = response.headers.get('ETag') ?? undefined;
    this.response = response;
  }
}

/** The code and the message of an Error body; neither for any other text. */
export function readErrorBody(text: string): { code?: string; message?: string } {
  try {
    const { code, message }: { code?: unknown; message?: unknown } = Object(JSON.parse(text));
    return typeof code === 'string' && typeof message === 'string' ? { code, message } : {};
  } catch {
    return {};
  }
}

/** No response; none within `timeout`; a truncated response; one that violates the API's contract. */
export type ConnectionFailure = 'network' | 'timeout' | 'broken-off' | 'unreadable';

/** The service returned no response, or no valid one. The outcome of the request is unknown. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
  readonly reason: ConnectionFailure;

  /** @param request such as `GET https://…` */
  constructor(reason: ConnectionFailure, request: string, cause: unknown) {
    // Node.js reports the failure in the error's cause.
    const { message, cause: inner }: { message?: string; cause?: { message?: string; code?: string } } = Object(cause);
    const detail = [message, inner?.message || inner?.code].filter(Boolean).join(': ') || String(cause);
    super(`${request} got no valid response (${reason}): ${detail}`, { cause });
    this.reason = reason;
  }
}
