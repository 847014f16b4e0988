export interface ErrorDefinition {
  /** HTTP status of the answer. */
  readonly status: number;
  /** What the client is told where nothing more exact can be said. */
  readonly message: string;
  /** What the client does about it. */
  readonly remedy: string;
}

/** Every `code` an Error body can carry (spec §2 and §7). A closed list: new failures need an entry here. */
export const errorCatalogue = {
  BAD_REQUEST: {
    status: 400,
    message: 'The request is malformed.',
    remedy: 'Check the request line, the headers and the body.',
  },
  INVALID_PET_ID: {
    status: 400,
    message: 'petId must be an int64 in decimal, such as 42.',
    remedy: 'Use a petId as GET /inventory lists it.',
  },
  INVALID_BODY: {
    status: 400,
    message: 'The body must be a JSON object such as {"quantity": 5}.',
    remedy: 'Correct the field that the message names.',
  },
  API_KEY_MISSING: {
    status: 401,
    message: 'Send your API key in the header Authorization: Bearer <API_KEY>.',
    remedy: 'Add the header. A key in the query string or in another header is not looked at.',
  },
  API_KEY_INVALID: {
    status: 401,
    message: 'The API key is mistyped, unknown, disabled or expired.',
    remedy: 'Check the key letter by letter, or ask the admin of the store for a new one.',
  },
  FORBIDDEN: {
    status: 403,
    message: 'The request was refused by the firewall.',
    remedy: 'Slow down, and check the request for patterns that look like an attack.',
  },
  PET_NOT_FOUND: {
    status: 404,
    message: 'There is no stock entry for this pet.',
    remedy: 'Use a petId as GET /inventory lists it.',
  },
  ROUTE_NOT_FOUND: {
    status: 404,
    message: 'There is nothing at this path.',
    remedy: 'Compare the path with the operations in the README; it starts with /v1 and has no slash at its end.',
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    message: 'This path does not answer that method.',
    remedy: 'Use one of the methods in the Allow header.',
  },
  PAYLOAD_TOO_LARGE: {
    status: 413,
    message: 'The body is too large.',
    remedy: 'Send only the fields that the operation knows.',
  },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    message: 'The body must be JSON: send Content-Type: application/json.',
    remedy: 'Set the Content-Type header to application/json.',
  },
  RATE_LIMIT_EXCEEDED: {
    status: 429,
    message: 'The requests of this minute are used up.',
    remedy: 'Wait as many seconds as Retry-After says, then back off exponentially.',
  },
  DAILY_QUOTA_EXCEEDED: {
    status: 429,
    message: 'The requests of this day are used up.',
    remedy: 'Wait as many seconds as Retry-After says, or move to a higher plan.',
  },
  API_KEY_SUSPENDED: {
    status: 429,
    message: 'The API key is suspended for a while, because it went on after being told to wait.',
    remedy: 'Stop all requests with this key for as many seconds as Retry-After says.',
  },
  INTERNAL_ERROR: {
    status: 500,
    message: 'The service failed to answer this request.',
    remedy: 'Try again later; if it stays, report the x-amzn-RequestId header of the answer.',
  },
  RESPONSE_TOO_LARGE: {
    status: 500,
    message: 'The answer is larger than the 6 MB that the service can send at once.',
    remedy: 'Report it: the store has outgrown the list operation.',
  },
  BAD_GATEWAY: {
    status: 502,
    message: 'The service broke off while answering this request.',
    remedy: 'Try again with exponential backoff. Setting the same quantity twice is safe.',
  },
  SERVICE_UNAVAILABLE: {
    status: 503,
    message: 'The service cannot reach its data right now.',
    remedy: 'Wait as many seconds as Retry-After says, then try again with exponential backoff.',
  },
  GATEWAY_TIMEOUT: {
    status: 504,
    message: 'The service took too long to answer.',
    remedy: 'Try again with exponential backoff. Setting the same quantity twice is safe.',
  },
} as const satisfies Record<string, ErrorDefinition>;

export type ErrorCode = keyof typeof errorCatalogue;

/** The one shape of every error answer (spec §2, Error). */
export interface ErrorBody {
  readonly code: ErrorCode;
  readonly message: string;
  readonly status: number;
}

/** A failure that is an answer: thrown anywhere below the pipeline, sent as its Error body. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly code: ErrorCode;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ErrorCode, options: { message?: string; headers?: Record<string, string>; cause?: unknown } = {}) {
    super(options.message ?? errorCatalogue[code].message, { cause: options.cause });
    this.code = code;
    this.headers = options.headers ?? {};
  }

  get status(): number {
    return errorCatalogue[this.code].status;
  }

  get body(): ErrorBody {
    return { code: this.code, message: this.message, status: this.status };
  }
}
