import * as v from 'valibot';
import { isErrorCode, ServiceError } from '../contract/errors.ts';

/** The outcome of a request that reaches its function. */
export const ADMITTED = 'ADMITTED';

/** Text, as API Gateway passes every value; or a safe default if another release's authorizer sent none. */
const text = (otherwise: string) => v.fallback(v.optional(v.string(), otherwise), otherwise);
const textIfAny = v.fallback(v.optional(v.string()), undefined);

const limitContextSchema = v.object({
  limit: text('0'),
  remaining: text('0'),
  /** Unix seconds. */
  reset: text('0'),
  /** The quotas of both windows for `RateLimit-Policy`; absent if unknown. */
  rateLimitPolicy: textIfAny,
  /** The remaining quota of both windows for `RateLimit`; absent if unknown. */
  rateLimit: textIfAny,
  /** Seconds. Also set for an admitted request, in case the gateway's throttle refuses it. */
  retryAfter: text('1'),
});
export type LimitContext = v.InferOutput<typeof limitContextSchema>;

/**
 * The authorizer's context for the gateway and the functions: both use it for the limit headers,
 * and the functions for their log lines. During a canary the two are of different releases: values
 * unknown to one of them have safe defaults.
 */
const authorizerContextSchema = v.object({
  /** `ADMITTED`, or the error code that the function returns. */
  outcome: text('none'),
  ...limitContextSchema.entries,
  /** An `Access`; an unknown one is read-only. Absent if the request could not be counted. */
  access: textIfAny,
  /** Partition key of the key's record, the same for all its tokens. Absent with `access`. */
  recordId: textIfAny,
  plan: textIfAny,
  /** Label and last four characters of the token that was sent, such as `main/ly02`. */
  token: textIfAny,
  /** Expiry of the key or this token, ISO 8601; absent: none. */
  expiresAt: textIfAny,
  /** Both windows as JSON: `KeyLimit[]`. */
  limits: textIfAny,
  /** The id of the key, added by API Gateway; {@link UNCOUNTED} if the request could not be counted. */
  principalId: textIfAny,
});

export type AuthorizerContext = v.InferOutput<typeof authorizerContextSchema>;

/** Parses the context in a function. Throws without one. */
export const readAuthorizerContext = (context: unknown): AuthorizerContext =>
  v.parse(authorizerContextSchema, context ?? {});

/**
 * The limit headers of every response, by their context values: `X-RateLimit-*`, and
 * those of the coming standard (IETF draft-ietf-httpapi-ratelimit-headers).
 */
export const limitHeaders = {
  'X-RateLimit-Limit': 'limit',
  'X-RateLimit-Remaining': 'remaining',
  'X-RateLimit-Reset': 'reset',
  'RateLimit-Policy': 'rateLimitPolicy',
  RateLimit: 'rateLimit',
} as const satisfies Record<string, keyof LimitContext>;

/** The error of a request that is not admitted. An unknown one, of a later release, is 503. */
export function refusalOf(context: AuthorizerContext): ServiceError {
  const { outcome, retryAfter } = context;
  const headers = { 'Retry-After': retryAfter };
  if (isErrorCode(outcome)) return new ServiceError(outcome, { message: refusalMessage(context), headers });
  const cause = new Error(`Unknown outcome of the authorizer: ${outcome}`);
  return new ServiceError('SERVICE_UNAVAILABLE', { headers, cause });
}

/** The message of a refusal with its limits, if known. */
function refusalMessage({ outcome, limit, retryAfter }: AuthorizerContext): string | undefined {
  if (outcome === 'RATE_LIMIT_EXCEEDED')
    return `Per-minute limit of ${limit} requests exceeded: retry after ${retryAfter} s.`;
  if (outcome === 'DAILY_QUOTA_EXCEEDED')
    return `Daily quota of ${limit} requests exceeded: retry after ${retryAfter} s.`;
  return outcome === 'API_KEY_SUSPENDED' ? `The API key is suspended: retry after ${retryAfter} s.` : undefined;
}

/** The principal of a request that could not be counted, because the keys table is unavailable. */
export const UNCOUNTED = 'uncounted';

/** The limit headers of a response without key and time: the standard's two would need a quota. */
export const unknownLimitHeaders = {
  'X-RateLimit-Limit': '0',
  'X-RateLimit-Remaining': '0',
  'X-RateLimit-Reset': '0',
} as const satisfies Partial<Record<keyof typeof limitHeaders, string>>;

export function limitHeadersOf(context: LimitContext): Readonly<Record<string, string>> {
  const headers = Object.entries(limitHeaders).map(([name, source]) => [name, context[source] ?? ''] as const);
  return Object.fromEntries(headers.filter(([, value]) => value !== ''));
}
