import * as v from 'valibot';
import { type ErrorCode, isErrorCode, ServiceError } from '../contract/errors.ts';
import type { KeyLimit } from '../contract/records.ts';
import type { Access } from '../keys/key-record.ts';
import { startOfMinute } from '../keys/window.ts';
import {
  type CountedVerdict,
  emptyWindows,
  NEVER,
  type Refusal,
  tightest,
  type Window,
  type Windows,
  windowsOf,
} from '../keys/verdict.ts';

/** The outcome of a request that goes on to its function. */
export const ADMITTED = 'ADMITTED';

const codeOfRefusal = {
  minute: 'RATE_LIMIT_EXCEEDED',
  day: 'DAILY_QUOTA_EXCEEDED',
  suspended: 'API_KEY_SUSPENDED',
} as const satisfies Record<Refusal['reason'], ErrorCode>;

/** Text, as API Gateway hands every value over; or what is safe where an authorizer of another release has not sent any. */
const text = (otherwise: string) => v.fallback(v.optional(v.string(), otherwise), otherwise);
const textIfAny = v.fallback(v.optional(v.string()), undefined);

const limitContextSchema = v.object({
  limit: text('0'),
  remaining: text('0'),
  /** Unix seconds. */
  reset: text('0'),
  /** The quotas of both windows, as `RateLimit-Policy` has them; empty where they are not known. */
  rateLimitPolicy: text(''),
  /** What is left of both windows, as `RateLimit` has it; empty where it is not known. */
  rateLimit: text(''),
  /** Seconds. For an admitted request: should the gateway's own throttle refuse it after all. */
  retryAfter: text('1'),
});
export type LimitContext = v.InferOutput<typeof limitContextSchema>;

/**
 * What the gateway and the functions get from the authorizer about a request: both take the limit headers from here, and
 * the functions the rest of their log lines. During a canary the two are of different releases: whatever the one does not
 * know of the other's is safe.
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
 * The limit headers of every answer, by the context value each one carries: those of the spec (§8, rule 1), and beside
 * them those that are becoming a standard (IETF draft-ietf-httpapi-ratelimit-headers).
 */
export const limitHeaders = {
  'X-RateLimit-Limit': 'limit',
  'X-RateLimit-Remaining': 'remaining',
  'X-RateLimit-Reset': 'reset',
  'RateLimit-Policy': 'rateLimitPolicy',
  RateLimit: 'rateLimit',
} as const satisfies Record<string, keyof LimitContext>;

/** @param hash of the token */
export function contextOf(verdict: CountedVerdict, hash: string, now: number): AuthorizerContext {
  const outcome = verdict.kind === 'admitted' ? { outcome: ADMITTED } : { outcome: codeOfRefusal[verdict.reason] };
  const windows = windowsOf(verdict);
  const least = tightest(windows);
  // The minute that a request is counted in may have begun by another host's clock only.
  const time = Math.max(now, startOfMinute(verdict.key.currentMinute));
  const retryAfter = verdict.kind === 'admitted' ? 1 : Math.max(1, secondsUntil(least, time));
  const { recordId, plan, tokens, expiresAtMs = NEVER } = verdict.key;
  // A token that is not found may do least.
  const { access = 'read' satisfies Access, until = NEVER } = tokens[hash] ?? {};
  const end = Math.min(expiresAtMs, until);
  const ofKey = {
    recordId,
    plan,
    access,
    ...(end < NEVER && { expiresAt: isoText(end) }),
    limits: limitsText(windows),
  };
  return { ...outcome, ...ofKey, ...limitContext(least, windows, retryAfter, time) };
}

/** For `GET /key`. */
function limitsText(windows: Windows): string {
  const limits: KeyLimit[] = (['minute', 'day'] as const).map((window) => {
    const { limit, remaining, resetsAt } = windows[window];
    return { window, limit, remaining, resetsAt: isoText(resetsAt) };
  });
  return JSON.stringify(limits);
}

/** In whole seconds. @param epochMs Unix milliseconds */
const isoText = (epochMs: number): string => `${new Date(epochMs).toISOString().slice(0, 19)}Z`;

/** What a request that is not admitted is answered with. A refusal that only a later release knows is 503. */
export function refusalOf(context: AuthorizerContext): ServiceError {
  const { outcome, retryAfter } = context;
  const headers = { 'Retry-After': retryAfter };
  if (isErrorCode(outcome)) return new ServiceError(outcome, { message: refusalMessage(context), headers });
  const cause = new Error(`The authorizer's outcome is not known: ${outcome}`);
  return new ServiceError('SERVICE_UNAVAILABLE', { headers, cause });
}

/** The message of a refusal, where more is known than the catalogue says. */
function refusalMessage({ outcome, limit, retryAfter }: AuthorizerContext): string | undefined {
  if (outcome === 'RATE_LIMIT_EXCEEDED')
    return `All ${limit} requests of this minute are used up: wait ${retryAfter} s.`;
  if (outcome === 'DAILY_QUOTA_EXCEEDED') return `All ${limit} requests of this day are used up: wait ${retryAfter} s.`;
  return outcome === 'API_KEY_SUSPENDED' ? `The API key is suspended for ${retryAfter} s more.` : undefined;
}

/** The principal of a request that could not be counted, because the keys table is out of reach. */
export const UNCOUNTED = 'uncounted';

/** The limit of a request without a valid key: none left until the minute, or the day, ends. */
export function noLimitContext(now: number): LimitContext {
  const windows = emptyWindows(now);
  return limitContext(windows.minute, windows, 1, now);
}

/** The limit headers of an answer that knows neither the key nor the time: the standard's two would have to name a quota. */
export const unknownLimitHeaders = {
  'X-RateLimit-Limit': '0',
  'X-RateLimit-Remaining': '0',
  'X-RateLimit-Reset': '0',
} as const satisfies Partial<Record<keyof typeof limitHeaders, string>>;

export function limitHeadersOf(context: LimitContext): Readonly<Record<string, string>> {
  const headers = Object.entries(limitHeaders).map(([name, source]) => [name, context[source]] as const);
  return Object.fromEntries(headers.filter(([, value]) => value !== ''));
}

function limitContext(least: Window, windows: Windows, retryAfter: number, now: number): LimitContext {
  const { limit, remaining, resetsAt } = least;
  const each = Object.entries(windows);
  return {
    limit: String(limit),
    remaining: String(remaining),
    reset: String(Math.ceil(resetsAt / 1_000)),
    rateLimitPolicy: each.map(([name, window]) => `"${name}";q=${window.limit};w=${window.seconds}`).join(', '),
    rateLimit: each
      .map(([name, window]) => `"${name}";r=${window.remaining};t=${secondsUntil(window, now)}`)
      .join(', '),
    retryAfter: String(retryAfter),
  };
}

/** Whole seconds, the unit of `Retry-After` (RFC 9110 §10.2.3) too. */
const secondsUntil = ({ resetsAt }: Window, now: number): number => Math.max(0, Math.ceil((resetsAt - now) / 1_000));
