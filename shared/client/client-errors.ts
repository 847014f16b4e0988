import type { ErrorCode } from '../contract/errors.ts';
import type { Limits } from './api-response.ts';
import { metadataOf, readRetryAfter } from './parse-response.ts';

export type { ErrorCode };

/** Base class of the errors of a call. Invalid arguments throw a TypeError, and an aborted call its signal's reason. */
export abstract class InventoryClientError extends Error {}

/** The service returned an error, or a limit of the key kept the call from being sent. Branch on its code. */
export class ApiError extends InventoryClientError {
  override readonly name = 'ApiError';
  /** `UNEXPECTED_RESPONSE` for a response without an Error body, such as a proxy's. The service may add codes. */
  readonly code: ErrorCode | 'UNEXPECTED_RESPONSE' | (string & {});
  /** HTTP status of the response; 429 for a call that was not sent. */
  readonly status: number;
  /** Whole seconds to wait before the next request; undefined without the header `Retry-After`. */
  readonly retryAfter: number | undefined;
  /** For questions to the admin of the service. */
  readonly requestId: string | undefined;
  /** The current ETag of the stock entry, with 409 and 412. */
  readonly etag: string | undefined;
  /** Undefined if the response does not say them. */
  readonly limits: Limits | undefined;
  /** The response itself, for its other headers. Its body has been read. Undefined for a call that was not sent. */
  readonly response: Response | undefined;

  /** @param source the response; for a call that was not sent, the seconds until it can be */
  constructor(
    source: Response | { readonly retryAfter: number },
    { code = 'UNEXPECTED_RESPONSE', message }: { readonly code?: string; readonly message?: string },
  ) {
    const response = 'headers' in source ? source : undefined;
    super(message ?? `The service returned status ${response?.status} without an Error body.`);
    const metadata = response && metadataOf(response);
    this.code = code;
    this.status = response?.status ?? 429;
    this.retryAfter = 'retryAfter' in source ? source.retryAfter : readRetryAfter(source.headers);
    this.requestId = metadata?.requestId;
    this.etag = metadata?.etag;
    this.limits = metadata?.limits;
    this.response = response;
  }

  /** For `JSON.stringify`, which would omit the message and show an empty response. */
  toJSON(): object {
    const { code, message, status, retryAfter, requestId, etag } = this;
    return { code, message, status, retryAfter, requestId, etag };
  }
}

/** Not sent within `maxQueueTime`; no response; none within `timeout`; a truncated one; not one of the API. */
export type ConnectionFailure = 'queued' | 'network' | 'timeout' | 'truncated' | 'unreadable';

/** The service returned no response, or no valid one. Unless it is `queued`, the outcome of the request is unknown. */
export class ConnectionError extends InventoryClientError {
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
