import { type ErrorCode, errorCatalogue } from './errors.ts';
import { IDEMPOTENCY_KEY_RULE } from './idempotency-key.ts';

/** Whether the same request may succeed later: not unless something is changed; when `Retry-After` says; with backoff. */
export type Retry = 'never' | 'after' | 'backoff';

interface Words {
  /** When the service answers with the error. */
  readonly cause: string;
  /** What the client does about it. */
  readonly remedy: string;
}

export interface ErrorAdvice extends Words {
  readonly retry: Retry;
}

/** Kept apart from the catalogue, so that these texts are not in the bundles of the functions. */
const words: Readonly<Record<string, Words>> = {
  BAD_REQUEST: {
    cause: 'The request line, a header or the encoding is not valid HTTP, or the gateway could not read the request.',
    remedy: 'Check the request line, the headers and the body.',
  },
  INVALID_PET_ID: {
    cause: 'The path has something in the place of petId that is no whole number, or one beyond 64 bits.',
    remedy: 'Use a petId as GET /inventory lists it.',
  },
  INVALID_QUERY: {
    cause:
      'A list was asked for with a parameter that it does not have, one given twice (only petId may be), or a value out of its range.',
    remedy:
      'Correct the parameter that the message names. Where it is not known, the message names those that the list takes.',
  },
  INVALID_CURSOR: {
    cause: 'The cursor was changed, cut off, or taken from another list or with another status.',
    remedy: 'Follow the Link header of a page as it is, or begin again without a cursor.',
  },
  INVALID_HEADER: {
    cause: `If-Match is no list of entity tags, If-None-Match of an update is not *, PATCH /inventory came with one of these headers, or Idempotency-Key is not what it must be: ${IDEMPOTENCY_KEY_RULE}.`,
    remedy: 'Correct the header that the message names.',
  },
  INVALID_BODY: {
    cause:
      'The body is missing, is not JSON, lacks a field, or has one whose value it cannot have, that is not known, or that is given twice.',
    remedy: 'Correct the field that the message names.',
  },
  API_KEY_MISSING: {
    cause: 'The request has no Authorization header, has several, or has one of another form than Bearer <API_KEY>.',
    remedy: 'Add the header. A key in the query string or in another header is not looked at.',
  },
  API_KEY_INVALID: {
    cause:
      'No such key was ever issued, its checksum does not fit (a typo), or it was disabled, revoked, ended, rotated with its grace over, or has expired.',
    remedy: 'Check the key letter by letter, or ask the admin of the store for a new one.',
  },
  FORBIDDEN: {
    cause: 'The firewall in front of the service took the request for an attack, or its address for a flood.',
    remedy: 'Slow down, and check the request for patterns that look like an attack.',
  },
  TOKEN_READ_ONLY: {
    cause: 'The API key was made to read only, and the operation changes something.',
    remedy: 'Use a key that may change things, or ask the admin of the store for one.',
  },
  PET_NOT_FOUND: {
    cause: 'The petId is well-formed, but the store has no stock entry for it, or for GET /pets no pet.',
    remedy: 'Use a petId as GET /inventory lists it.',
  },
  ROUTE_NOT_FOUND: {
    cause: 'No operation has this path; a missing /v1 is enough.',
    remedy: 'Compare the path with the operations of the API reference; it starts with /v1.',
  },
  METHOD_NOT_ALLOWED: {
    cause: 'The path exists, but not with this method. The Allow header names those that it has.',
    remedy: 'Use one of the methods in the Allow header.',
  },
  INSUFFICIENT_STOCK: {
    cause: 'The adjustment takes more than there is, or would add to more than 2147483647. Nothing was changed.',
    remedy: 'Look at the stock as it is now, and decide again.',
  },
  PRECONDITION_FAILED: {
    cause:
      'Another client has changed the stock entry since the ETag in If-Match was given out; or If-None-Match: * asks for there to be none. Nothing was changed.',
    remedy: 'Look at the stock as it is now, decide again, and send the update with the ETag of this answer.',
  },
  PAYLOAD_TOO_LARGE: {
    cause: 'The body is larger than 16 KiB, or than the gateway takes.',
    remedy: 'Send only the fields that the operation knows.',
  },
  UNSUPPORTED_MEDIA_TYPE: {
    cause:
      'The body was sent with another Content-Type than application/json, or with none, or with a Content-Encoding.',
    remedy: 'Set the Content-Type header to application/json, and send the body uncompressed.',
  },
  IDEMPOTENCY_KEY_REUSED: {
    cause: 'Within 24 hours the same Idempotency-Key came with another petId, body, If-Match or If-None-Match.',
    remedy: 'Make a new key for every update, and send one again only with the very same request.',
  },
  RATE_LIMIT_EXCEEDED: {
    cause:
      'The key has made all requests of the current UTC minute that its plan allows. The refused request does not count against the day.',
    remedy: 'Wait as many seconds as Retry-After says, then back off exponentially.',
  },
  DAILY_QUOTA_EXCEEDED: {
    cause:
      'The key has made all requests of the current UTC day that its plan allows. The next day begins at 00:00 UTC.',
    remedy: 'Wait as many seconds as Retry-After says, or move to a higher plan.',
  },
  API_KEY_SUSPENDED: {
    cause:
      'The key was refused as often within one minute as it may make requests in it, which suspends it for five minutes; or the admin of the store has suspended it for a time.',
    remedy: 'Stop all requests with this key for as many seconds as Retry-After says.',
  },
  TOO_MANY_REQUESTS: {
    cause:
      'Requests come so fast that the gateway refuses some of them by itself: those over a limit or of a suspended key, PATCH /inventory beyond what a key may send of it a second, or all clients together more than an operation takes. It does not say which it is, and the limit headers are 0, which means unknown.',
    remedy: 'Wait as many seconds as Retry-After says. The limit headers of the next answer say what is left.',
  },
  INTERNAL_ERROR: {
    cause: 'The service ran into a fault of its own. It is logged under the request id.',
    remedy: 'Try again later; if it stays, report the x-amzn-RequestId header of the answer.',
  },
  BAD_GATEWAY: {
    cause: 'The operation crashed or gave no proper answer. An update may or may not have happened.',
    remedy: 'Try again with exponential backoff; an update with the Idempotency-Key of the first try.',
  },
  SERVICE_UNAVAILABLE: {
    cause:
      'The database is out of reach or throttling, or many update the same pet at once. The request was not carried out, unless the message says that this is not known.',
    remedy:
      'Wait as many seconds as Retry-After says, then try again with exponential backoff; an update with the Idempotency-Key of the first try.',
  },
  GATEWAY_TIMEOUT: {
    cause: 'The operation did not finish in time. An update may or may not have happened.',
    remedy: 'Try again with exponential backoff; an update with the Idempotency-Key of the first try.',
  },
} satisfies Record<ErrorCode, Words>;

/** The limits and a database out of reach pass; faults of ours may, and the firewall forgets. */
function retryOf(code: string, status: number): Retry {
  if (status === 429 || status === 503) return 'after';
  return code === 'FORBIDDEN' || status >= 500 ? 'backoff' : 'never';
}

/** What the docs say of each error code. */
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it has the codes of `words`, which has all
export const errorGuide = Object.fromEntries(
  Object.entries(errorCatalogue).map(([code, { status }]) => [code, { ...words[code], retry: retryOf(code, status) }]),
) as Record<ErrorCode, ErrorAdvice>;
