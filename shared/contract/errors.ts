/** Every `code` of an Error body, with its default message. A closed list: new failures need an entry here. */
export const errorCatalog = {
  BAD_REQUEST: { status: 400, message: 'The request is malformed.' },
  INVALID_PET_ID: { status: 400, message: 'petId must be an int64 in decimal, such as 42.' },
  INVALID_QUERY: { status: 400, message: 'Unknown query parameter or invalid value.' },
  INVALID_CURSOR: { status: 400, message: 'The cursor is malformed, or belongs to another list or status.' },
  INVALID_HEADER: { status: 400, message: 'A header has an invalid value.' },
  INVALID_BODY: { status: 400, message: 'The body is not valid JSON for this operation.' },
  API_KEY_MISSING: { status: 401, message: 'Send your API key in the header Authorization: Bearer <API_KEY>.' },
  API_KEY_INVALID: { status: 401, message: 'The API key is mistyped, unknown, disabled or expired.' },
  FORBIDDEN: { status: 403, message: 'The request was refused by the firewall.' },
  TOKEN_READ_ONLY: { status: 403, message: 'This API key has read-only access.' },
  PET_NOT_FOUND: { status: 404, message: 'The pet does not exist.' },
  ROUTE_NOT_FOUND: { status: 404, message: 'There is nothing at this path.' },
  METHOD_NOT_ALLOWED: { status: 405, message: 'This path does not support this method.' },
  INSUFFICIENT_STOCK: { status: 409, message: 'The stock is too low for this adjustment.' },
  PRECONDITION_FAILED: { status: 412, message: 'The current version of the stock entry does not match If-Match.' },
  PAYLOAD_TOO_LARGE: { status: 413, message: 'The body is too large.' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, message: 'The body must be JSON: send Content-Type: application/json.' },
  IDEMPOTENCY_KEY_REUSED: { status: 422, message: 'This Idempotency-Key was used for another request.' },
  RATE_LIMIT_EXCEEDED: { status: 429, message: 'Per-minute limit exceeded.' },
  DAILY_QUOTA_EXCEEDED: { status: 429, message: 'Daily quota exceeded.' },
  API_KEY_SUSPENDED: { status: 429, message: 'The API key is temporarily suspended.' },
  TOO_MANY_REQUESTS: { status: 429, message: 'Too many requests: wait for the time in Retry-After.' },
  INTERNAL_ERROR: { status: 500, message: 'The service failed while processing this request.' },
  BAD_GATEWAY: { status: 502, message: 'The service crashed while processing this request.' },
  UPDATE_OUTCOME_UNKNOWN: { status: 503, message: 'The update may have been applied.' },
  SERVICE_UNAVAILABLE: { status: 503, message: 'The service is temporarily unavailable.' },
  GATEWAY_TIMEOUT: { status: 504, message: 'The service timed out.' },
} as const satisfies Record<string, Pick<ErrorBody, 'status' | 'message'>>;

export type ErrorCode = keyof typeof errorCatalog;

export const isErrorCode = (text: string): text is ErrorCode => Object.hasOwn(errorCatalog, text);

/** The body of every error response. */
export interface ErrorBody {
  readonly code: ErrorCode;
  readonly message: string;
  readonly status: number;
}

export interface ServiceErrorOptions {
  /** Replaces the message of the catalog. */
  readonly message?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
}

/** A failure with a response: thrown anywhere below the pipeline, sent as its Error body. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly code: ErrorCode;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ErrorCode, options: ServiceErrorOptions = {}) {
    super(options.message ?? errorCatalog[code].message, { cause: options.cause });
    this.code = code;
    this.status = errorCatalog[code].status;
    this.headers = options.headers ?? {};
  }

  get body(): ErrorBody {
    return { code: this.code, message: this.message, status: this.status };
  }
}

/** The response to a failure; an unexpected one exposes no details. */
export function serviceErrorOf(error: unknown): ServiceError {
  return error instanceof ServiceError ? error : new ServiceError('INTERNAL_ERROR', { cause: error ?? undefined });
}
