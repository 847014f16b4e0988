import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { endOfDay, endOfMinute, isSameDay, minuteOf } from '../../../shared/keys/window.ts';

const at = (iso: string) => Date.parse(iso);
const dateOf = (time: number) => new Date(time).toISOString().slice(0, 10);
const anyTime = fc.integer({ min: 0, max: at('2100-01-01T00:00:00Z') });

describe('the minute window', () => {
  test.each([
    ['the first millisecond', '2025-06-15T12:34:00.000Z'],
    ['the middle', '2025-06-15T12:34:30.500Z'],
    ['the last millisecond', '2025-06-15T12:34:59.999Z'],
  ])('%s belongs to the minute, which ends where the next begins', (_, time) => {
    expect(endOfMinute(minuteOf(at(time)))).toBe(at('2025-06-15T12:35:00.000Z'));
  });

  test('holds every time that falls in it, and is a minute long', () => {
    fc.assert(
      fc.property(anyTime, (time) => {
        const end = endOfMinute(minuteOf(time));
        expect(time).toBeLessThan(end);
        expect(time).toBeGreaterThanOrEqual(end - 60_000);
        expect(minuteOf(end)).toBe(minuteOf(time) + 1);
      }),
    );
  });
});

describe('the day window', () => {
  test.each([
    ['at midnight UTC', '2025-06-15T00:00:00.000Z', '2025-06-16T00:00:00.000Z'],
    ['in the last millisecond of the day', '2025-06-15T23:59:59.999Z', '2025-06-16T00:00:00.000Z'],
    ['on a leap day', '2028-02-29T08:00:00.000Z', '2028-03-01T00:00:00.000Z'],
    ['at the end of a year', '2025-12-31T23:00:00.000Z', '2026-01-01T00:00:00.000Z'],
  ])('%s', (_, time, end) => {
    expect(endOfDay(minuteOf(at(time)))).toBe(at(end));
  });

  test.each([
    ['the first and the last minute of a day', '2025-06-15T00:00:00Z', '2025-06-15T23:59:00Z', true],
    ['the last minute of a day and the first of the next', '2025-06-15T23:59:00Z', '2025-06-16T00:00:00Z', false],
    ['the same minute of two days', '2025-06-15T12:00:00Z', '2025-06-16T12:00:00Z', false],
  ])('%s', (_, one, other, same) => {
    expect(isSameDay(minuteOf(at(one)), minuteOf(at(other)))).toBe(same);
  });

  test('two times are of one UTC day exactly where their dates are the same', () => {
    fc.assert(
      fc.property(anyTime, fc.integer({ min: 0, max: 2 * 86_400_000 }), (time, later) => {
        expect(isSameDay(minuteOf(time), minuteOf(time + later))).toBe(dateOf(time) === dateOf(time + later));
      }),
    );
  });
});
