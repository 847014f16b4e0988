import type { Limits } from './limits.ts';
import type { components } from './schema.ts';

/** A code of the service's error catalogue. */
export type ErrorCode = components['schemas']['Error']['code'];

/** The code of an answer without an Error body: something on the way has answered in place of the service. */
const NO_ERROR_BODY = 'UNEXPECTED_ANSWER';

export interface ApiErrorDetails {
  /** The service may know more codes than this version of the client. */
  readonly code: ErrorCode | typeof NO_ERROR_BODY | (string & {});
  /** HTTP status of the answer. */
  readonly status: number;
  /** Undefined where the answer has no limit headers. */
  readonly limits: Limits | undefined;
  /** Whole seconds to wait before the next request; undefined where the answer does not say. */
  readonly retryAfter: number | undefined;
  /** For questions to the admin of the service. */
  readonly requestId: string | undefined;
  /** Of a refused update (412): the ETag that the stock entry has by now. */
  readonly etag: string | undefined;
  /** Requests that the call has sent: 0 where the client held it back, because a refusal of an earlier one still holds. */
  readonly attempts: number;
}

/** An answer that is not 200. */
interface ErrorAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly limits: Limits | undefined;
}

/** The service has answered with an error. */
export class ApiError extends Error implements ApiErrorDetails {
  override readonly name = 'ApiError';
  readonly code: ApiErrorDetails['code'];
  readonly status: number;
  readonly limits: Limits | undefined;
  readonly retryAfter: number | undefined;
  readonly requestId: string | undefined;
  readonly etag: string | undefined;
  readonly attempts: number;

  /** @param message what the service says, for people */
  constructor(message: string, details: ApiErrorDetails) {
    super(message);
    this.code = details.code;
    this.status = details.status;
    this.limits = details.limits;
    this.retryAfter = details.retryAfter;
    this.requestId = details.requestId;
    this.etag = details.etag;
    this.attempts = details.attempts;
  }

  /** The same refusal for a call that was not even sent, because it still holds. */
  again(retryAfter: number, attempts: number): ApiError {
    const { message, code, status, limits, requestId, etag } = this;
    return new ApiError(message, { code, status, limits, retryAfter, requestId, etag, attempts });
  }

  /** What an answer says that is no good one. */
  static of({ status, headers, text, limits }: ErrorAnswer, attempts: number): ApiError {
    const body = readErrorBody(text);
    const message = body?.message ?? `The service answered with status ${status} and without an Error body.`;
    return new ApiError(message, {
      code: body?.code ?? NO_ERROR_BODY,
      status,
      limits,
      retryAfter: readRetryAfter(headers.get('Retry-After')),
      requestId: headers.get('x-amzn-RequestId') ?? undefined,
      etag: headers.get('ETag') ?? undefined,
      attempts,
    });
  }
}

function readErrorBody(text: string): { code: string; message: string } | undefined {
  const body = parsed(text);
  if (typeof body !== 'object' || body === null || !('code' in body) || !('message' in body)) return undefined;
  const { code, message } = body;
  return typeof code === 'string' && typeof message === 'string' ? { code, message } : undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Seconds from a `Retry-After` of either form (RFC 9110 §10.2.3). */
function readRetryAfter(text: string | null): number | undefined {
  if (text === null) return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  const seconds = Math.ceil((Date.parse(text) - Date.now()) / 1_000);
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds);
}
