import * as v from 'valibot';
import { isErrorCode, ServiceError } from '../contract/errors.ts';

/** The outcome of a request that goes on to its function. */
export const ADMITTED = 'ADMITTED';

/** Text, as API Gateway hands every value over; or what is safe where an authorizer of another release sent none. */
const text = (otherwise: string) => v.fallback(v.optional(v.string(), otherwise), otherwise);
const textIfAny = v.fallback(v.optional(v.string()), undefined);

const limitContextSchema = v.object({
  limit: text('0'),
  remaining: text('0'),
  /** Unix seconds. */
  reset: text('0'),
  /** The quotas of both windows, as `RateLimit-Policy` has them; absent where they are not known. */
  rateLimitPolicy: textIfAny,
  /** What is left of both windows, as `RateLimit` has it; absent where it is not known. */
  rateLimit: textIfAny,
  /** Seconds. For an admitted request: should the gateway's own throttle refuse it after all. */
  retryAfter: text('1'),
});
export type LimitContext = v.InferOutput<typeof limitContextSchema>;

/**
 * What the gateway and the functions get from the authorizer about a request: both take the limit headers from here,
 * and the functions the rest of their log lines. During a canary the two are of different releases: whatever the one
 * does not know of the other's is safe.
 */
const authorizerContextSchema = v.object({
  /** `ADMITTED`, or the error code that the function answers with. */
  outcome: text('none'),
  ...limitContextSchema.entries,
  /** An `Access`; one that is not known may do least. Absent where the request could not be counted. */
  access: textIfAny,
  /** Partition key of the key's record: the same for all tokens that the key ever has. Absent with `access`. */
  recordId: textIfAny,
  plan: textIfAny,
  /** Label and last four characters of the token that was sent, such as `main/ly02`. */
  token: textIfAny,
  /** When the key stops working with this token, ISO 8601; absent: it does not. */
  expiresAt: textIfAny,
  /** Both windows as JSON: `KeyLimit[]`. */
  limits: textIfAny,
  /** The id of the key, which API Gateway adds; {@link UNCOUNTED} where the request could not be counted. */
  principalId: textIfAny,
});

export type AuthorizerContext = v.InferOutput<typeof authorizerContextSchema>;

/** Reads the context in a function. Without any, nothing is served. */
export const readAuthorizerContext = (context: unknown): AuthorizerContext =>
  v.parse(authorizerContextSchema, context ?? {});

/**
 * The limit headers of every answer, by the context value each one carries: `X-RateLimit-*`, and beside
 * them those that are becoming a standard (IETF draft-ietf-httpapi-ratelimit-headers).
 */
export const limitHeaders = {
  'X-RateLimit-Limit': 'limit',
  'X-RateLimit-Remaining': 'remaining',
  'X-RateLimit-Reset': 'reset',
  'RateLimit-Policy': 'rateLimitPolicy',
  RateLimit: 'rateLimit',
} as const satisfies Record<string, keyof LimitContext>;

/** What a request that is not admitted is answered with. A refusal that only a later release knows is 503. */
export function refusalOf(context: AuthorizerContext): ServiceError {
  const { outcome, retryAfter } = context;
  const headers = { 'Retry-After': retryAfter };
  if (isErrorCode(outcome)) return new ServiceError(outcome, { message: refusalMessage(context), headers });
  const cause = new Error(`The authorizer's outcome is not known: ${outcome}`);
  return new ServiceError('SERVICE_UNAVAILABLE', { headers, cause });
}

/** The message of a refusal, where more is known than the catalog says. */
function refusalMessage({ outcome, limit, retryAfter }: AuthorizerContext): string | undefined {
  if (outcome === 'RATE_LIMIT_EXCEEDED')
    return `Per-minute limit of ${limit} requests exceeded: retry after ${retryAfter} s.`;
  if (outcome === 'DAILY_QUOTA_EXCEEDED')
    return `Daily quota of ${limit} requests exceeded: retry after ${retryAfter} s.`;
  return outcome === 'API_KEY_SUSPENDED' ? `The API key is suspended: retry after ${retryAfter} s.` : undefined;
}

/** The principal of a request that could not be counted, because the keys table is unavailable. */
export const UNCOUNTED = 'uncounted';

/** The limit headers of an answer that knows neither the key nor the time: the standard's two would need a quota. */
export const unknownLimitHeaders = {
  'X-RateLimit-Limit': '0',
  'X-RateLimit-Remaining': '0',
  'X-RateLimit-Reset': '0',
} as const satisfies Partial<Record<keyof typeof limitHeaders, string>>;

export function limitHeadersOf(context: LimitContext): Readonly<Record<string, string>> {
  const headers = Object.entries(limitHeaders).map(([name, source]) => [name, context[source] ?? ''] as const);
  return Object.fromEntries(headers.filter(([, value]) => value !== ''));
}
