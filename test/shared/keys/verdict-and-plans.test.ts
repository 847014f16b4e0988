import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { type KeyRecord, UNTIL_RESUMED } from '../../../shared/keys/key-record.ts';
import { usagePlanLimits } from '../../../shared/keys/plans.ts';
import { type Minute, nextStep, limitRefusal, mostRestrictiveWindow, windowsOf } from '../../../shared/keys/verdict.ts';
import { aKey, tokenOf } from '../../support/tables.ts';

const NOW = Date.UTC(2025, 5, 15, 12, 34, 30);
const MINUTE_MS = 60_000;
const MINUTE = NOW / MINUTE_MS - 0.5;
const LAST_OF_YESTERDAY = Date.UTC(2025, 5, 14, 23, 59) / 60_000;
const END_OF_MINUTE = Date.UTC(2025, 5, 15, 12, 35);
const END_OF_DAY = Date.UTC(2025, 5, 16);
const LATER = NOW + 300_000;

const { recordId, tokens: TOKENS } = aKey();
const { hash: HASH } = tokenOf({ recordId, tokens: TOKENS });

/** A key with 2 requests per minute and 10 a day, in the minute of NOW. */
const key = (differences: Partial<KeyRecord> = {}) =>
  aKey({ tokens: TOKENS, perMinute: 2, perDay: 10, currentMinute: MINUTE, minuteUsed: 1, dayUsed: 5, ...differences });

const suspended = key({ suspendedUntil: NOW + 1 });

type Step = ReturnType<typeof nextStep>;
const deny: Step = { kind: 'denied', isSuspended: false };
const admit = (minute: Minute): Step => ({ kind: 'countAdmitted', window: { minute } });

describe('the next step after the counting write of a request failed:', () => {
  test.each<[string, KeyRecord | undefined, Step]>([
    [
      'a key that is suspended until it is resumed is denied as such',
      key({ suspendedUntil: UNTIL_RESUMED, enabled: false }),
      { kind: 'denied', isSuspended: true },
    ],
    [
      'a wrong token of such a key is denied like an unknown one',
      key({ tokens: {}, suspendedUntil: UNTIL_RESUMED }),
      deny,
    ],
    ['a wrong token is denied, however long the key is suspended', key({ tokens: {}, suspendedUntil: NOW + 1 }), deny],
    ['a suspended key is refused', suspended, { kind: 'refused', key: suspended, reason: 'suspended' }],
    ['a key that has room after all counts', key(), admit(MINUTE)],
    ['a key whose suspension ends right now counts', key({ suspendedUntil: NOW }), admit(MINUTE)],
    [
      'a late request counts in the minute that the key has moved on to',
      key({ currentMinute: MINUTE + 1 }),
      admit(MINUTE + 1),
    ],
  ])('%s', (_, record, step) => {
    expect(nextStep(record, HASH, NOW)).toEqual(step);
  });
});

const minute = (remaining: number, resetsAt = END_OF_MINUTE) => ({ limit: 2, remaining, resetsAt, seconds: 60 });
const day = (remaining: number) => ({ limit: 10, remaining, resetsAt: END_OF_DAY, seconds: 86_400 });

describe('the limits after an admitted request: both windows, and the one with less quota', () => {
  test.each([
    ['the minute, if it has less left', { minuteUsed: 1, dayUsed: 5 }, minute(1), day(5), 'minute'],
    ['the day, if it has less left', { minuteUsed: 0, dayUsed: 9 }, minute(2), day(1), 'day'],
    ['the day, if both have the same left', { minuteUsed: 1, dayUsed: 9 }, minute(1), day(1), 'day'],
    ['zero, never less, if a limit was lowered', { minuteUsed: 7, dayUsed: 7 }, minute(0), day(3), 'minute'],
  ] as const)('%s', (_, used, ofMinute, ofDay, least) => {
    const windows = windowsOf({ kind: 'admitted', key: key(used) });

    expect(windows).toEqual({ minute: ofMinute, day: ofDay });
    expect(mostRestrictiveWindow(windows)).toBe(windows[least]);
  });
});

describe('a refusal has its reason and the end to wait for', () => {
  test.each([
    ['of the minute', { minuteUsed: 2 }, 'minute', minute(0), day(5), END_OF_MINUTE],
    ['of the day', { dayUsed: 10 }, 'day', minute(1), day(0), END_OF_DAY],
    ['of the day, if both are exhausted', { minuteUsed: 2, dayUsed: 10 }, 'day', minute(0), day(0), END_OF_DAY],
    ['of a suspension', { suspendedUntil: LATER }, 'suspended', minute(0, LATER), day(5), LATER],
    [
      'of the day, if a suspended key has exhausted it',
      { dayUsed: 10, suspendedUntil: LATER },
      'suspended',
      minute(0, END_OF_DAY),
      day(0),
      END_OF_DAY,
    ],
    [
      'of a suspension that is longer than the exhausted day',
      { dayUsed: 10, suspendedUntil: END_OF_DAY + 1, suspendedByAdmin: true },
      'suspended',
      minute(0, END_OF_DAY + 1),
      day(0),
      END_OF_DAY + 1,
    ],
    [
      'of a suspension that outlasts its minute and its day, with what is left of those of now',
      { currentMinute: LAST_OF_YESTERDAY, minuteUsed: 2, dayUsed: 10, suspendedUntil: LATER },
      'suspended',
      minute(0, LATER),
      day(10),
      LATER,
    ],
  ])('%s', (_, state, reason, ofMinute, ofDay, resetsAt) => {
    const verdict = limitRefusal(key(state), NOW);

    expect(verdict).toEqual({ kind: 'refused', key: verdict.key, reason });
    expect(windowsOf(verdict)).toEqual({ minute: ofMinute, day: ofDay });
    expect(mostRestrictiveWindow(windowsOf(verdict))).toMatchObject({ remaining: 0, resetsAt });
  });
});

test('a usage plan never throttles what the exact limits admit', () => {
  // Times within a minute that like its edges; of each minute as many as the limit admits.
  const time = fc.oneof(fc.constantFrom(0, 1, MINUTE_MS - 1), fc.nat({ max: MINUTE_MS - 1 }));
  const minutes = fc.integer({ min: 1, max: 130 }).chain((perMinute) => {
    const burst = fc.tuple(time, fc.nat({ max: perMinute })).map(([at, length]) => Array.from({ length }, () => at));
    const inMinute = fc.array(burst, { maxLength: 4 }).map((bursts) => bursts.flat().slice(0, perMinute));
    return fc.tuple(fc.constant(perMinute), fc.array(inMinute, { maxLength: 6 }));
  });
  fc.assert(
    fc.property(minutes, ([perMinute, offsets]) => {
      const { rateLimit, burstLimit } = usagePlanLimits({ perMinute, perDay: 1_000_000 });
      const times = offsets.flatMap((inMinute, index) => inMinute.map((offset) => index * MINUTE_MS + offset));
      // API Gateway's token bucket, in thousandths of a token, so that nothing is rounded.
      let [tokens, least, last] = [burstLimit * 1_000, 0, 0];
      for (const now of times.toSorted((a, b) => a - b)) {
        tokens = Math.min(burstLimit * 1_000, tokens + (now - last) * rateLimit) - 1_000;
        last = now;
        least = Math.min(least, tokens);
      }
      expect(least).toBeGreaterThanOrEqual(0);
    }),
    { numRuns: 300 },
  );
});
