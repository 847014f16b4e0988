import { describe, expect, test } from '@jest/globals';
import type { KeyRecord } from '../../../shared/keys/key-record.ts';
import { UNTIL_RESUMED } from '../../../shared/keys/suspension.ts';
import {
  emptyWindows,
  nextStep,
  rateLimitOf,
  refusal,
  retryAfterSeconds,
  type Step,
  windowsOf,
} from '../../../shared/keys/verdict.ts';
import { endOfDay, endOfMinute, isSameDay, minuteOf } from '../../../shared/keys/window.ts';
import { aKey } from '../../support/tables.ts';

const NOW = Date.UTC(2025, 5, 15, 12, 34, 30);
const MINUTE = NOW / 60_000 - 0.5;
const LAST_OF_YESTERDAY = Date.UTC(2025, 5, 14, 23, 59) / 60_000;
const END_OF_MINUTE = Date.UTC(2025, 5, 15, 12, 35);
const END_OF_DAY = Date.UTC(2025, 5, 16);

/** A key with 2 requests a minute and 10 a day, in the minute of NOW. */
const key = (differences: Partial<KeyRecord> = {}) =>
  aKey({ perMinute: 2, perDay: 10, currentMinute: MINUTE, minuteUsed: 1, dayUsed: 5, ...differences });

const ofMinute = (remaining: number) => ({ limit: 2, remaining, resetsAt: END_OF_MINUTE });
const minute = (remaining: number) => ({ ...ofMinute(remaining), seconds: 60 });
const ofDay = (remaining: number) => ({ limit: 10, remaining, resetsAt: END_OF_DAY });
const day = (remaining: number) => ({ ...ofDay(remaining), seconds: 86_400 });

describe('the next step after the counting write of a request failed', () => {
  test.each<[string, KeyRecord | undefined, Step]>([
    ['an unknown key is denied', undefined, { kind: 'deny' }],
    ['a revoked key is denied', key({ revoked: true }), { kind: 'deny' }],
    ['a key that is suspended until it is resumed is denied', key({ suspendedUntil: UNTIL_RESUMED }), { kind: 'deny' }],
    ['a disabled key is denied', key({ enabled: false }), { kind: 'deny' }],
    ['a key that expires right now is denied', key({ expiresAt: NOW }), { kind: 'deny' }],
    ['a suspended key is refused', key({ suspendedUntil: NOW + 1 }), { kind: 'refuseSuspended' }],
    [
      'a key that was never used starts its first minute',
      aKey(),
      { kind: 'countAdmitted', window: { minute: MINUTE, starts: 'day' } },
    ],
    [
      'a minute after one that was full starts with an admitted request',
      key({ currentMinute: MINUTE - 1, minuteUsed: 2 }),
      { kind: 'countAdmitted', window: { minute: MINUTE, starts: 'minute' } },
    ],
    [
      'a minute of a day that is used up starts with a refused request',
      key({ currentMinute: MINUTE - 1, dayUsed: 10 }),
      { kind: 'countRefused', window: { minute: MINUTE, starts: 'minute' } },
    ],
    [
      'a day after one that was used up starts with an admitted request',
      key({ currentMinute: LAST_OF_YESTERDAY, dayUsed: 10 }),
      { kind: 'countAdmitted', window: { minute: MINUTE, starts: 'day' } },
    ],
    ['a full minute refuses', key({ minuteUsed: 2 }), { kind: 'countRefused', window: { minute: MINUTE } }],
    ['a day that is used up refuses', key({ dayUsed: 10 }), { kind: 'countRefused', window: { minute: MINUTE } }],
    ['a key that has room after all counts', key(), { kind: 'countAdmitted', window: { minute: MINUTE } }],
    [
      'a key that expires later counts',
      key({ expiresAt: NOW + 1 }),
      { kind: 'countAdmitted', window: { minute: MINUTE } },
    ],
    [
      'a key whose suspension ends right now counts',
      key({ suspendedUntil: NOW }),
      { kind: 'countAdmitted', window: { minute: MINUTE } },
    ],
    [
      'a late request counts in the minute that the key has moved on to',
      key({ currentMinute: MINUTE + 1 }),
      { kind: 'countAdmitted', window: { minute: MINUTE + 1 } },
    ],
  ])('%s', (_, record, step) => {
    expect(nextStep(record, NOW)).toEqual(step);
  });
});

describe('the limit headers (spec §8): the window with the least left', () => {
  test.each([
    ['the minute, where it has less left', { minuteUsed: 1, dayUsed: 5 }, ofMinute(1)],
    ['the day, where it has less left', { minuteUsed: 0, dayUsed: 9 }, ofDay(1)],
    ['the day, where both have as much left', { minuteUsed: 1, dayUsed: 9 }, ofDay(1)],
    ['zero left, never less, where the minute limit was lowered', { minuteUsed: 7, dayUsed: 7 }, ofMinute(0)],
  ])('%s', (_, used, rateLimit) => {
    expect(rateLimitOf(key(used))).toEqual(rateLimit);
  });
});

describe('a refusal', () => {
  test.each([
    ['for the minute waits for its end', { minuteUsed: 2 }, 'minute', 2, END_OF_MINUTE],
    ['for the day waits for its end', { dayUsed: 10 }, 'day', 10, END_OF_DAY],
    ['for both is one for the day', { minuteUsed: 2, dayUsed: 10 }, 'day', 10, END_OF_DAY],
    [
      'under suspension waits for its end',
      { minuteUsed: 2, suspendedUntil: NOW + 300_000 },
      'suspended',
      2,
      NOW + 300_000,
    ],
    [
      'under suspension on a day that is used up waits for the end of the day',
      { dayUsed: 10, suspendedUntil: NOW + 300_000 },
      'suspended',
      10,
      END_OF_DAY,
    ],
    [
      'under a suspension that is over is an ordinary one',
      { minuteUsed: 2, suspendedUntil: NOW },
      'minute',
      2,
      END_OF_MINUTE,
    ],
  ])('%s', (_, state, reason, limit, resetsAt) => {
    const record = key(state);

    expect(refusal(record, NOW)).toEqual({
      kind: 'refused',
      key: record,
      reason,
      rateLimit: { limit, remaining: 0, resetsAt },
    });
  });
});

describe('both windows (IETF draft RateLimit)', () => {
  test.each([['what is left of them', { minuteUsed: 1, dayUsed: 5 }, { minute: minute(1), day: day(5) }]])(
    'of an admitted request: %s',
    (_, used, windows) => {
      const record = key(used);

      expect(windowsOf({ kind: 'admitted', key: record, rateLimit: rateLimitOf(record) })).toEqual(windows);
    },
  );

  test('of a request that is refused for a window are what the counters say', () => {
    expect(windowsOf(refusal(key({ minuteUsed: 2 }), NOW))).toEqual({ minute: minute(0), day: day(5) });
    expect(windowsOf(refusal(key({ dayUsed: 10 }), NOW))).toEqual({ minute: minute(1), day: day(0) });
  });

  test.each([
    ['when it ends', { suspendedUntil: NOW + 300_000 }, NOW + 300_000],
    ['when the full minute ends, if that is later', { minuteUsed: 2, suspendedUntil: NOW + 1_000 }, END_OF_MINUTE],
  ])('of a suspended key have nothing in the minute until the suspension is over: %s', (_, state, resetsAt) => {
    expect(windowsOf(refusal(key(state), NOW))).toEqual({ minute: { ...minute(0), resetsAt }, day: day(5) });
  });

  test('of a request without a valid key are empty', () => {
    expect(emptyWindows(NOW)).toEqual({ minute: { ...minute(0), limit: 0 }, day: { ...day(0), limit: 0 } });
  });
});

describe('Retry-After: whole seconds, at least 1', () => {
  test.each([
    ['a second and a millisecond', 1_001, 2],
    ['a millisecond', 1, 1],
    ['no time at all', 0, 1],
  ])('%s', (_, milliseconds, seconds) => {
    expect(retryAfterSeconds({ limit: 1, remaining: 0, resetsAt: NOW + milliseconds }, NOW)).toBe(seconds);
  });
});

const at = (iso: string) => Date.parse(iso);

describe('the minute window', () => {
  test.each([
    ['the first millisecond', '2025-06-15T12:34:00.000Z'],
    ['the last millisecond', '2025-06-15T12:34:59.999Z'],
  ])('%s belongs to the minute, which ends where the next begins', (_, time) => {
    expect(endOfMinute(minuteOf(at(time)))).toBe(at('2025-06-15T12:35:00.000Z'));
  });
});

describe('the day window', () => {
  test.each([
    ['at midnight UTC', '2025-06-15T00:00:00.000Z', '2025-06-16T00:00:00.000Z'],
    ['in the last millisecond of the day', '2025-06-15T23:59:59.999Z', '2025-06-16T00:00:00.000Z'],
  ])('%s', (_, time, end) => {
    expect(endOfDay(minuteOf(at(time)))).toBe(at(end));
  });

  test.each([
    ['the first and the last minute of a day', '2025-06-15T00:00:00Z', '2025-06-15T23:59:00Z', true],
    ['the last minute of a day and the first of the next', '2025-06-15T23:59:00Z', '2025-06-16T00:00:00Z', false],
  ])('%s', (_, one, other, same) => {
    expect(isSameDay(minuteOf(at(one)), minuteOf(at(other)))).toBe(same);
  });
});
