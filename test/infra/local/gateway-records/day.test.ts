import { describe, expect, test } from '@jest/globals';
import { dateOf, dayOf, parseDate } from '../../../../infra/local/gateway-records/day.ts';

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
