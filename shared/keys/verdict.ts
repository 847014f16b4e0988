import type { KeyRecord } from './key-record.ts';
import { UNTIL_RESUMED } from './suspension.ts';
import { endOfDay, endOfMinute, isSameDay, type Minute, minuteOf } from './window.ts';

/** What `X-RateLimit-*` say: the window with the least left. */
export interface RateLimit {
  readonly limit: number;
  readonly remaining: number;
  /** Unix milliseconds. */
  readonly resetsAt: number;
}

/** One of the windows that a key is limited in. */
export interface Window extends RateLimit {
  /** Its length. */
  readonly seconds: number;
}

/** Both windows of a key. */
export interface Windows {
  readonly minute: Window;
  readonly day: Window;
}

export type RefusalReason = 'minute' | 'day' | 'suspended';

export interface Refusal {
  readonly kind: 'refused';
  readonly key: KeyRecord;
  readonly rateLimit: RateLimit;
  readonly reason: RefusalReason;
}

/** The outcome for one request. */
export type Verdict =
  | { readonly kind: 'admitted'; readonly key: KeyRecord; readonly rateLimit: RateLimit }
  | Refusal
  | { readonly kind: 'denied' };

/** The minute that a request is counted in, and whether counting it begins a new minute, or a new day with it. */
export interface CountedIn {
  readonly minute: Minute;
  readonly starts?: 'minute' | 'day';
}

/** What to do about a request. */
export type Step =
  | { readonly kind: 'deny' }
  /** The key was rotated: its successor counts for both. */
  | { readonly kind: 'follow'; readonly keyHash: string }
  | { readonly kind: 'refuseSuspended' }
  | CountingStep;

/** Write that the request is admitted, if the window has room for it; or refused, if it has none. */
export interface CountingStep {
  readonly kind: 'countAdmitted' | 'countRefused';
  readonly window: CountedIn;
}

/**
 * Decides the next step from the key as it stood when a write failed.
 *
 * A request whose own minute is over by the time it is counted belongs to the key's current minute: the counter of
 * its own is gone, and counting it in none would exceed a limit.
 *
 * @param key the record, or undefined for an unknown key
 * @param now time of the request, Unix milliseconds
 */
export function nextStep(key: KeyRecord | undefined, now: number): Step {
  if (!key?.enabled || key.revoked || key.suspendedUntil >= UNTIL_RESUMED) return { kind: 'deny' };
  if (key.expiresAt !== undefined && key.expiresAt <= now) return { kind: 'deny' };
  if (key.replacedBy !== undefined) return { kind: 'follow', keyHash: key.replacedBy };
  if (key.suspendedUntil > now) return { kind: 'refuseSuspended' };
  return countingStep(key, now);
}

/** Whether a good key has room for a request, and in which window it is counted. */
export function countingStep(key: KeyRecord, now: number): CountingStep {
  const minute = Math.max(minuteOf(now), key.currentMinute);
  if (!isSameDay(key.currentMinute, minute)) return { kind: 'countAdmitted', window: { minute, starts: 'day' } };
  const isUsedUp = key.dayUsed >= key.perDay;
  if (key.currentMinute < minute) {
    return { kind: isUsedUp ? 'countRefused' : 'countAdmitted', window: { minute, starts: 'minute' } };
  }
  const isRefused = isUsedUp || key.minuteUsed >= key.perMinute;
  return { kind: isRefused ? 'countRefused' : 'countAdmitted', window: { minute } };
}

/** The window of the key with the least left; the day's on a tie. */
export function rateLimitOf(key: KeyRecord): RateLimit {
  const { minute, day } = windowsOfKey(key);
  const { limit, remaining, resetsAt } = day.remaining <= minute.remaining ? day : minute;
  return { limit, remaining, resetsAt };
}

/** What the counters of a key leave of both windows. A suspended key has nothing left until the suspension ends. */
export function windowsOf(verdict: Exclude<Verdict, { kind: 'denied' }>): Windows {
  const windows = windowsOfKey(verdict.key);
  if (verdict.kind === 'admitted' || verdict.reason !== 'suspended') return windows;
  return { ...windows, minute: { ...windows.minute, remaining: 0, resetsAt: verdict.rateLimit.resetsAt } };
}

/** The windows of a request without a valid key: there is nothing in them. */
export const emptyWindows = (now: number): Windows =>
  windowsOfKey({ perMinute: 0, perDay: 0, minuteUsed: 0, dayUsed: 0, currentMinute: minuteOf(now) });

type Counters = Pick<KeyRecord, 'perMinute' | 'perDay' | 'minuteUsed' | 'dayUsed' | 'currentMinute'>;

function windowsOfKey({ perMinute, perDay, minuteUsed, dayUsed, currentMinute }: Counters): Windows {
  const minuteLeft = Math.max(0, perMinute - minuteUsed);
  const dayLeft = Math.max(0, perDay - dayUsed);
  return {
    minute: { limit: perMinute, remaining: minuteLeft, resetsAt: endOfMinute(currentMinute), seconds: 60 },
    day: { limit: perDay, remaining: dayLeft, resetsAt: endOfDay(currentMinute), seconds: 86_400 },
  };
}

/** The verdict on a request that was refused, from the key after its refusal was counted. */
export function refusal(key: KeyRecord, now: number): Refusal {
  const rateLimit = rateLimitOf(key);
  if (key.suspendedUntil <= now) {
    return { kind: 'refused', key, rateLimit, reason: key.dayUsed >= key.perDay ? 'day' : 'minute' };
  }
  const resetsAt = Math.max(key.suspendedUntil, rateLimit.remaining === 0 ? rateLimit.resetsAt : 0);
  return { kind: 'refused', key, reason: 'suspended', rateLimit: { ...rateLimit, remaining: 0, resetsAt } };
}

/** Whole seconds until the limit resets, at least 1 (the unit of `Retry-After`, RFC 9110 §10.2.3). */
export function retryAfterSeconds({ resetsAt }: RateLimit, now: number): number {
  return Math.max(1, Math.ceil((resetsAt - now) / 1_000));
}
