import type { APIGatewayAuthorizerResult } from 'aws-lambda';
import { type ErrorCode, errorCatalog } from '../contract/errors.ts';
import type { KeyLimit } from '../contract/records.ts';
import { type Access, tokenName, NO_EXPIRY } from '../keys/key-record.ts';
import {
  type CountedVerdict,
  emptyWindows,
  mostRestrictiveWindow,
  type Refusal,
  startOfMinute,
  type Window,
  type Windows,
  windowsOf,
} from '../keys/verdict.ts';
import { ADMITTED, type AuthorizerContext, type LimitContext } from './request.ts';
import { helpLink } from './response-headers.ts';

export type DenialCode = Extract<ErrorCode, 'API_KEY_MISSING' | 'API_KEY_INVALID'>;

/** `WWW-Authenticate` for each: without `error` if no key was sent (RFC 6750 §3.1). */
export const challenges = {
  API_KEY_MISSING: 'Bearer realm="pet-store-inventory"',
  API_KEY_INVALID: 'Bearer realm="pet-store-inventory", error="invalid_token"',
} as const satisfies Record<DenialCode, string>;

/** Allows a request, metered on the usage plan of `usageIdentifierKey`. */
export function allow(
  methodArn: string,
  principalId: string,
  usageIdentifierKey: string,
  context: AuthorizerContext,
): APIGatewayAuthorizerResult {
  return { principalId, usageIdentifierKey, policyDocument: policy('Allow', methodArn), context: { ...context } };
}

/** A message instead of the catalog's, and the origin of the reference page. */
type DenialOptions = Readonly<Partial<Record<'message' | 'referenceOrigin', string | undefined>>>;

/** Denies a request. The gateway's ACCESS_DENIED response builds the 401 from this context. */
export function deny(
  methodArn: string,
  code: DenialCode,
  now: number,
  { message = errorCatalog[code].message, referenceOrigin }: DenialOptions = {},
): APIGatewayAuthorizerResult {
  const context = {
    code,
    // The gateway copies it into its JSON unescaped.
    message: JSON.stringify(message).slice(1, -1),
    challenge: challenges[code],
    ...(referenceOrigin !== undefined && { help: helpLink(referenceOrigin, code) }),
    ...noLimitContext(now),
  };
  return { principalId: 'anonymous', policyDocument: policy('Deny', methodArn), context };
}

/** The path of a method ARN comes from the caller and may hold wildcards, so only API and stage are used. */
function policy(Effect: 'Allow' | 'Deny', methodArn: string): APIGatewayAuthorizerResult['policyDocument'] {
  const Resource = `${methodArn.split('/', 2).join('/')}/*`;
  return { Version: '2012-10-17', Statement: [{ Effect, Action: 'execute-api:Invoke', Resource }] };
}

const codeOfRefusal = {
  minute: 'RATE_LIMIT_EXCEEDED',
  day: 'DAILY_QUOTA_EXCEEDED',
  suspended: 'API_KEY_SUSPENDED',
} as const satisfies Record<Refusal['reason'], ErrorCode>;

/** @param hash of the token */
export function contextOf(verdict: CountedVerdict, hash: string, now: number): AuthorizerContext {
  const windows = windowsOf(verdict);
  const least = mostRestrictiveWindow(windows);
  // The minute that counts a request may have begun only by another host's clock.
  const time = Math.max(now, startOfMinute(verdict.key.currentMinute));
  const retryAfter = verdict.kind === 'admitted' ? 1 : Math.max(1, secondsUntil(least, time));
  const outcome =
    verdict.kind === 'admitted'
      ? { outcome: ADMITTED }
      : { outcome: codeOfRefusal[verdict.reason], message: `${reasonFor(verdict)}: retry after ${retryAfter} s.` };
  const { recordId, plan, tokens, expiresAtMs = NO_EXPIRY } = verdict.key;
  const token = tokens[hash];
  const end = Math.min(expiresAtMs, token?.until ?? NO_EXPIRY);
  const ofKey = {
    recordId,
    plan,
    // An access of a later release is read-only here, like a token that is not found.
    access: (token?.access === 'full' ? 'full' : 'read') satisfies Access,
    ...(token && { token: tokenName(token) }),
    ...(end < NO_EXPIRY && { expiresAt: isoText(end) }),
    limits: limitsJson(windows),
  };
  return { ...outcome, ...ofKey, ...limitContext(least, windows, retryAfter, time) };
}

function reasonFor({ reason, key: { perMinute, perDay, suspendedByAdmin } }: Refusal): string {
  if (reason === 'minute') return `Per-minute limit of ${perMinute} requests exceeded`;
  if (reason === 'day') return `Daily quota of ${perDay} requests exceeded`;
  if (suspendedByAdmin) return 'The admin of the store has suspended the API key';
  return `The API key is suspended, as ${perMinute} requests were refused within a minute`;
}

/** For `GET /key`. */
function limitsJson(windows: Windows): string {
  const limits: KeyLimit[] = (['minute', 'day'] as const).map((window) => {
    const { limit, remaining, resetsAt } = windows[window];
    return { window, limit, remaining, resetsAt: isoText(resetsAt) };
  });
  return JSON.stringify(limits);
}

/** In whole seconds. @param epochMs Unix milliseconds */
export const isoText = (epochMs: number): string => `${new Date(epochMs).toISOString().slice(0, 19)}Z`;

/** The limit of a request without a valid key: 0 until the minute, or the day, ends. */
export function noLimitContext(now: number): LimitContext {
  const windows = emptyWindows(now);
  return limitContext(windows.minute, windows, 1, now);
}

/** A request that could not be counted: the quotas of its key are unknown. */
export function uncountedContext(now: number): AuthorizerContext {
  const { rateLimitPolicy: _policy, rateLimit: _rest, ...limit } = noLimitContext(now);
  return { outcome: 'SERVICE_UNAVAILABLE', ...limit };
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
