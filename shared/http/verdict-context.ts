import type { ErrorCode } from '../contract/errors.ts';
import type { KeyLimit } from '../contract/records.ts';
import { type Access, NO_EXPIRY, tokenName } from '../keys/key-record.ts';
import {
  type CountedVerdict,
  emptyWindows,
  type Refusal,
  mostRestrictiveWindow,
  type Window,
  type Windows,
  windowsOf,
} from '../keys/verdict.ts';
import { startOfMinute } from '../keys/window.ts';
import { ADMITTED, type AuthorizerContext, type LimitContext } from './authorizer-context.ts';

const codeOfRefusal = {
  minute: 'RATE_LIMIT_EXCEEDED',
  day: 'DAILY_QUOTA_EXCEEDED',
  suspended: 'API_KEY_SUSPENDED',
} as const satisfies Record<Refusal['reason'], ErrorCode>;

/** @param hash of the token */
export function contextOf(verdict: CountedVerdict, hash: string, now: number): AuthorizerContext {
  const outcome = verdict.kind === 'admitted' ? { outcome: ADMITTED } : { outcome: codeOfRefusal[verdict.reason] };
  const windows = windowsOf(verdict);
  const least = mostRestrictiveWindow(windows);
  // The minute that counts a request may have begun only by another host's clock.
  const time = Math.max(now, startOfMinute(verdict.key.currentMinute));
  const retryAfter = verdict.kind === 'admitted' ? 1 : Math.max(1, secondsUntil(least, time));
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
