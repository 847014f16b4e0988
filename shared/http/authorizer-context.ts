import * as v from 'valibot';
import type { ErrorCode } from '../contract/errors.ts';
import type { KeyRecord } from '../keys/key-record.ts';
import { type RateLimit, type RefusalReason, retryAfterSeconds, type Verdict } from '../keys/verdict.ts';
import { endOfMinute, minuteOf } from '../keys/window.ts';

const ADMITTED = 'ADMITTED';

const codeOfRefusal = {
  minute: 'RATE_LIMIT_EXCEEDED',
  day: 'DAILY_QUOTA_EXCEEDED',
  suspended: 'API_KEY_SUSPENDED',
} as const satisfies Record<RefusalReason, ErrorCode>;

/**
 * What the authorizer tells the gateway and the functions about a request. API Gateway hands every value over as text.
 * The gateway responses and the functions take the limit headers from here.
 */
const authorizerContextSchema = v.object({
  /** `ADMITTED`, or the error code that the function answers with. */
  outcome: v.picklist([ADMITTED, ...Object.values(codeOfRefusal), 'SERVICE_UNAVAILABLE']),
  limit: v.string(),
  remaining: v.string(),
  /** Unix seconds. */
  reset: v.string(),
  /** Seconds. For an admitted request: should the gateway's own throttle refuse it after all. */
  retryAfter: v.string(),
});

export type AuthorizerContext = v.InferOutput<typeof authorizerContextSchema>;
export type LimitContext = Omit<AuthorizerContext, 'outcome'>;

/** The limit headers of every answer (spec §8, rule 1), by the context value each one carries. */
export const limitHeaders = {
  'X-RateLimit-Limit': 'limit',
  'X-RateLimit-Remaining': 'remaining',
  'X-RateLimit-Reset': 'reset',
} as const satisfies Record<string, keyof AuthorizerContext>;

export function contextOf(verdict: Exclude<Verdict, { kind: 'denied' }>, now: number): AuthorizerContext {
  const outcome = verdict.kind === 'admitted' ? ADMITTED : codeOfRefusal[verdict.reason];
  const retryAfter = verdict.kind === 'admitted' ? 1 : retryAfterSeconds(verdict.rateLimit, now);
  return { outcome, ...limitContext(verdict.rateLimit, retryAfter) };
}

/** The context of a request that could not be counted because the keys table is out of reach. */
export function unavailableContext(now: number): AuthorizerContext {
  return { outcome: 'SERVICE_UNAVAILABLE', ...noLimitContext(now) };
}

/** The limit of a request without a valid key: none left until the minute ends. */
export function noLimitContext(now: number): LimitContext {
  return limitContext({ limit: 0, remaining: 0, resetsAt: endOfMinute(minuteOf(now)) }, 1);
}

function limitContext({ limit, remaining, resetsAt }: RateLimit, retryAfter: number): LimitContext {
  return {
    limit: String(limit),
    remaining: String(remaining),
    reset: String(Math.ceil(resetsAt / 1_000)),
    retryAfter: String(retryAfter),
  };
}

/** Reads the context in a function. Throws where it is missing: without a verdict nothing may be served. */
export function parseAuthorizerContext(context: unknown): AuthorizerContext {
  return v.parse(authorizerContextSchema, context);
}

/** The error code that a refused request is answered with; undefined for an admitted one. */
export function refusalCode({ outcome }: AuthorizerContext): ErrorCode | undefined {
  return outcome === ADMITTED ? undefined : outcome;
}

/**
 * What API Gateway knows the key by, so that its usage plan meters the request. A change of keys takes up to some
 * minutes to reach all of API Gateway; until then the interim plan stands in, or a new key would be refused there.
 */
export function usageIdentifier(key: KeyRecord, token: string, interimKey: string, now: number): string {
  if (now < key.interimUntil) return interimKey;
  return key.usageIdentifier === 'hash' ? key.keyHash : token;
}
