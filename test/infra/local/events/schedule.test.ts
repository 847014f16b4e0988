import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { periodOf, Schedule } from '../../../../infra/local/events/schedule.ts';
import { HostError } from '../../../../infra/local/host-error.ts';

describe('a schedule expression', () => {
  test.each([
    ['rate(1 minute)', 60_000],
    ['rate(5 minutes)', 300_000],
    ['rate(1 hour)', 3_600_000],
    ['rate(12 hours)', 43_200_000],
    ['rate(1 day)', 86_400_000],
    ['rate(30 days)', 2_592_000_000],
  ])('%s is a period of %d ms', (expression, periodMs) => {
    expect(periodOf(expression, 'Rule')).toBe(periodMs);
  });

  test.each([
    'cron(0 12 * * ? *)',
    'rate(5 seconds)',
    'rate(0 minutes)',
    'rate(1 minutes)',
    'rate(5 minute)',
    'rate(-5 minutes)',
    'rate(5 constructors)',
    'rate(5 minutes) ',
    'at(2026-11-21T09:00:00)',
    '',
  ])('stops the local host: %j', (expression) => {
    expect(() => periodOf(expression, 'Resource Rule')).toThrow(HostError);
    expect(() => periodOf(expression, 'Resource Rule')).toThrow(/^Resource Rule: .* property ScheduleExpression/);
  });
});

describe('a schedule', () => {
  let fired = 0;
  let schedule: Schedule;

  beforeEach(() => {
    jest.useFakeTimers();
    fired = 0;
  });

  afterEach(() => {
    schedule.stop();
    jest.useRealTimers();
  });

  function start(periodMs: number): void {
    schedule = new Schedule(periodMs, () => (fired += 1));
    schedule.start();
  }

  test('fires one period after its start for the first time', () => {
    start(300_000);
    jest.advanceTimersByTime(299_999);
    expect(fired).toBe(0);
    jest.advanceTimersByTime(1);

    expect(fired).toBe(1);
  });

  test('fires once a period', () => {
    start(60_000);
    jest.advanceTimersByTime(10 * 60_000);

    expect(fired).toBe(10);
  });

  test('waits longer than a timer of Node can', () => {
    start(30 * 86_400_000);
    jest.advanceTimersByTime(30 * 86_400_000 - 1);
    expect(fired).toBe(0);
    jest.advanceTimersByTime(1);

    expect(fired).toBe(1);
  });

  test('fires no more once it is stopped', () => {
    start(60_000);
    schedule.stop();
    jest.advanceTimersByTime(600_000);

    expect(fired).toBe(0);
    expect(jest.getTimerCount()).toBe(0);
  });
});
