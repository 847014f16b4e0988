import { type KeyRecord, NO_EXPIRY, UNTIL_RESUMED, type TokenRecord } from './key-record.ts';

/** A UTC minute, as the number of whole minutes since the Unix epoch. */
export type Minute = number;

const MINUTE_MS = 60_000;
const MINUTES_PER_DAY = 1_440;
export const DAY_MS = MINUTES_PER_DAY * MINUTE_MS;

/** The minute of a time (Unix milliseconds). */
export const minuteOf = (epochMs: number): Minute => Math.floor(epochMs / MINUTE_MS);

export const startOfMinute = (minute: Minute): number => minute * MINUTE_MS;

/** The first millisecond after a minute. */
export const endOfMinute = (minute: Minute): number => startOfMinute(minute + 1);

/** The UTC day of a time (Unix milliseconds), such as `2026-11-21`. */
export const isoDay = (epochMs: number): string => new Date(epochMs).toISOString().slice(0, 10);

export const firstMinuteOfDay = (minute: Minute): Minute => minute - (minute % MINUTES_PER_DAY);

/** The first millisecond after a minute's UTC day. */
export const endOfDay = (minute: Minute): number => startOfMinute(firstMinuteOfDay(minute) + MINUTES_PER_DAY);

export const isSameDay = (a: Minute, b: Minute): boolean => firstMinuteOfDay(a) === firstMinuteOfDay(b);

/** Duration of the suspension after repeated refusals within a minute, in milliseconds. */
export const SUSPENSION_MS = 5 * 60_000;

export interface Window {
  readonly limit: number;
  readonly remaining: number;
  /** Unix milliseconds. */
  readonly resetsAt: number;
  /** Its length. */
  readonly seconds: number;
}

export type Windows = Readonly<Record<'minute' | 'day', Window>>;

/** The outcome for a request over a limit or with a suspended key, and the key after it. */
export interface Refusal {
  readonly kind: 'refused';
  readonly key: KeyRecord;
  readonly reason: 'minute' | 'day' | 'suspended';
}

/** The outcome if admitted or refused, and the key after it. */
export type CountedVerdict = { readonly kind: 'admitted'; readonly key: KeyRecord } | Refusal;

/** The outcome for one request. `isSuspended`: an admin has suspended the key until it is resumed; its token is valid. */
export type Verdict = CountedVerdict | { readonly kind: 'denied'; readonly isSuspended: boolean };

const DENIED: Verdict = { kind: 'denied', isSuspended: false };

/** The minute that a request counts in, and what it starts: a new minute, or a new day too. */
export interface CountedIn<Start extends 'minute' | 'day' = 'minute' | 'day'> {
  readonly minute: Minute;
  readonly starts?: Start;
}

/** Count the request as admitted if quota remains, or as refused if none does. */
export type CountingStep =
  | { readonly kind: 'countAdmitted'; readonly window: CountedIn }
  /** The write fails if the key has another revision, such as when it is resumed. */
  | { readonly kind: 'countRefused'; readonly window: CountedIn<'minute'>; readonly revision: number };

/**
 * The verdict, or the next write, from the item that a failed condition returned; undefined: an unknown key. A request
 * whose minute has ended before it is counted is counted in the key's current minute: the counter of its own minute no
 * longer exists, and not counting it would exceed a limit.
 *
 * @param hash of the token @param now time of the request, Unix milliseconds
 */
export function nextStep(key: KeyRecord | undefined, hash: string, now: number): Verdict | CountingStep {
  if (!key || key.revoked || (key.expiresAtMs ?? NO_EXPIRY) <= now || !validToken(key, hash, now)) return DENIED;
  if (key.suspendedUntil >= UNTIL_RESUMED) return { kind: 'denied', isSuspended: true };
  if (!key.enabled) return DENIED;
  return isSuspended(key, now) ? limitRefusal(key, now) : countingStep(key, now);
}

/** A key's token if valid at a time; undefined: unknown or expired. @param now Unix milliseconds */
export function validToken({ tokens }: KeyRecord, hash: string, now: number): TokenRecord | undefined {
  const token = Object.hasOwn(tokens, hash) ? tokens[hash] : undefined;
  return token && token.until > now ? token : undefined;
}

/** Whether a valid key has remaining quota for a request, and which window counts it. */
export function countingStep(key: KeyRecord, now: number): CountingStep {
  const minute = Math.max(minuteOf(now), key.currentMinute);
  if (!isSameDay(key.currentMinute, minute)) return { kind: 'countAdmitted', window: { minute, starts: 'day' } };
  const isNew = key.currentMinute !== minute;
  const window = isNew ? ({ minute, starts: 'minute' } as const) : { minute };
  const isRefused = key.dayUsed >= key.perDay || (!isNew && key.minuteUsed >= key.perMinute);
  return isRefused ? { kind: 'countRefused', window, revision: key.revision } : { kind: 'countAdmitted', window };
}

/** The refusal of a request, from the key after it was counted. @param now Unix milliseconds */
export function limitRefusal(key: KeyRecord, now: number): Refusal {
  if (isSuspended(key, now)) return { kind: 'refused', key: asOf(key, now), reason: 'suspended' };
  return { kind: 'refused', key, reason: key.dayUsed >= key.perDay ? 'day' : 'minute' };
}

const isSuspended = ({ suspendedUntil }: KeyRecord, now: number): boolean => suspendedUntil > now;

/** A key with its counters at a time: those of a past minute or day are reset. */
function asOf(key: KeyRecord, now: number): KeyRecord {
  const currentMinute = minuteOf(now);
  if (currentMinute <= key.currentMinute) return key;
  const dayUsed = isSameDay(currentMinute, key.currentMinute) ? key.dayUsed : 0;
  return { ...key, currentMinute, minuteUsed: 0, dayUsed };
}

/** Remaining quota of both windows. A suspended key has none until the suspension ends. */
export function windowsOf(verdict: CountedVerdict): Windows {
  const windows = windowsOfKey(verdict.key);
  if (verdict.kind === 'admitted' || verdict.reason !== 'suspended') return windows;
  const { remaining, resetsAt } = mostRestrictiveWindow(windows);
  const end = Math.max(verdict.key.suspendedUntil, remaining === 0 ? resetsAt : 0);
  return { ...windows, minute: { ...windows.minute, remaining: 0, resetsAt: end } };
}

/** The windows of a request without a valid key, with limits of 0. */
export const emptyWindows = (now: number): Windows =>
  windowsOfKey({ perMinute: 0, perDay: 0, minuteUsed: 0, dayUsed: 0, currentMinute: minuteOf(now) });

type Counters = Pick<KeyRecord, 'perMinute' | 'perDay' | 'minuteUsed' | 'dayUsed' | 'currentMinute'>;

function windowsOfKey({ perMinute, perDay, minuteUsed, dayUsed, currentMinute }: Counters): Windows {
  const minuteLeft = Math.max(0, perMinute - minuteUsed);
  const dayLeft = Math.max(0, perDay - dayUsed);
  return {
    minute: { limit: perMinute, remaining: minuteLeft, resetsAt: endOfMinute(currentMinute), seconds: 60 },
    day: { limit: perDay, remaining: dayLeft, resetsAt: endOfDay(currentMinute), seconds: DAY_MS / 1_000 },
  };
}

/** The window of `X-RateLimit-*`: lowest remaining quota; if tied, the later reset, mostly the day's. */
export function mostRestrictiveWindow({ minute, day }: Windows): Window {
  if (day.remaining === minute.remaining) return day.resetsAt >= minute.resetsAt ? day : minute;
  return day.remaining < minute.remaining ? day : minute;
}
