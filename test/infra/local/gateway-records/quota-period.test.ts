import { describe, expect, test } from '@jest/globals';
import { dateOf, dayOf, parseDate, startOfPeriod } from '../../../../infra/local/gateway-records/quota-period.ts';
import type { Quota } from '../../../../infra/local/gateway-records/usage-plan.ts';

describe('a date', () => {
  test.each([
    ['1970-01-01', 0],
    ['2026-11-21', 20_778],
    ['2024-02-29', 19_782],
  ])('%s is day %d', (date, day) => {
    expect(parseDate(date)).toBe(day);
    expect(dateOf(day)).toBe(date);
    expect(dayOf(Date.parse(date))).toBe(day);
    expect(dayOf(Date.parse(date) - 1)).toBe(day - 1);
  });

  test.each(['', '2026-11', '2026-11-31', '2026-02-29', '2026-1-1', '2026-11-21T00:00:00Z', '21.11.2026', 'today'])(
    'is none: %j',
    (text) => {
      expect(parseDate(text)).toBeUndefined();
    },
  );
});

describe('the period of a quota', () => {
  test.each<[Quota['period'], number, string, string]>([
    ['DAY', 0, '2026-11-21', '2026-11-21'],
    ['WEEK', 0, '2026-11-21', '2026-11-15'],
    ['WEEK', 0, '2026-11-22', '2026-11-22'],
    ['WEEK', 1, '2026-11-22', '2026-11-16'],
    ['WEEK', 6, '2026-11-20', '2026-11-14'],
    ['WEEK', 6, '2026-11-21', '2026-11-21'],
    ['MONTH', 0, '2026-11-01', '2026-11-01'],
    ['MONTH', 0, '2026-11-30', '2026-11-01'],
    ['MONTH', 20, '2026-11-21', '2026-11-21'],
    ['MONTH', 20, '2026-11-20', '2026-10-21'],
    ['MONTH', 27, '2026-01-05', '2025-12-28'],
    ['MONTH', 27, '2026-03-01', '2026-02-28'],
  ])('%s with offset %d that %s is in starts on %s', (period, offset, date, start) => {
    expect(dateOf(startOfPeriod({ limit: 1, offset, period }, parseDate(date) ?? 0))).toBe(start);
  });
});
