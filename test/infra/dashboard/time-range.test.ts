import { describe, expect, test } from '@jest/globals';
import { DashboardError } from '../../../infra/dashboard/dashboard-error.ts';
import { timeRange } from '../../../infra/dashboard/time-range.ts';

const at = (time: string): number => Date.parse(`2026-11-21T${time}Z`);

const events = ['09:00:10', '09:04:00', '11:30:20', '11:35:00', '11:36:59'].map((time) => ({
  logGroup: 'group',
  at: at(time),
  message: '',
  fields: undefined,
}));

describe('the time that a picture shows', () => {
  test('is the last run by whole minutes', () => {
    expect(timeRange(events)).toEqual({ from: at('11:30:00'), to: at('11:37:00') });
  });

  test.each([
    ['the first run, where it ends there', { to: at('10:00:00') }, '09:00:00', '10:00:00'],
    ['what comes from a time on', { from: { at: at('09:02:30') } }, '09:02:30', '11:37:00'],
    ['so long before the end', { from: { before: 3_600_000 } }, '10:37:00', '11:37:00'],
    ['so long before a time', { from: { before: 60_000 }, to: at('11:00:00') }, '10:59:00', '11:00:00'],
  ])('is %s', (_, given, from, to) => {
    expect(timeRange(events, given)).toEqual({ from: at(from), to: at(to) });
  });

  test.each([
    ['there are no lines', [], {}],
    ['there are none so early', events, { to: at('08:00:00') }],
    ['it would end before it begins', events, { from: { at: at('12:00:00') } }],
  ])('is none where %s', (_, given, limits) => {
    expect(() => timeRange(given, limits)).toThrow(DashboardError);
  });
});
