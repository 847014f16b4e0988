import { describe, expect, test } from '@jest/globals';
import type { AlarmDefinition } from '../../../../infra/dashboard/alarms/alarm-definition.ts';
import { alarmStatus } from '../../../../infra/dashboard/alarms/alarm-status.ts';
import { MetricStore } from '../../../../infra/local/metrics/metric-store.ts';
import { statisticOf } from '../../../../infra/local/metrics/statistic.ts';

const MINUTE = 60_000;
const noon = Date.parse('2026-11-21T12:00:00Z');
const failures = { namespace: 'Store', name: 'Failures', dimensions: {} };

const sum = statisticOf('Sum') ?? (() => Number.NaN);

const alarm = (differences: Partial<AlarmDefinition> = {}): AlarmDefinition => ({
  arn: 'arn',
  name: 'failures',
  description: 'Requests fail',
  period: 300,
  evaluationPeriods: 1,
  datapointsToAlarm: 1,
  missingData: 'notBreaching',
  breaches: (value) => value >= 5,
  threshold: 5,
  returned: 'sum',
  queries: new Map([['sum', { kind: 'metric', metric: failures, statistic: sum }]]),
  ...differences,
});

const failureAt = (minute: number) => ({ ...failures, at: noon + minute * MINUTE, value: 1 });

/** A failure at each of the times, in minutes after noon. */
const storeOf = (...minutes: readonly number[]): MetricStore =>
  new MetricStore(minutes.map((minute) => failureAt(minute)));

const until = (minute: number) => ({ from: noon, to: noon + minute * MINUTE });

describe('an alarm over a time range', () => {
  const burst = storeOf(3.1, 3.2, 3.3, 3.4, 3.5);

  test('goes off at the end of the minute that breaches, and tells since when', () => {
    const status = { state: 'ALARM', since: noon + 4 * MINUTE, value: 5 };

    expect(alarmStatus(alarm(), burst, until(4))).toMatchObject(status);
    expect(alarmStatus(alarm(), burst, until(8))).toMatchObject(status);
  });

  test('is over once all periods that it looks back on have slid past', () => {
    expect(alarmStatus(alarm(), burst, until(18)).state).toBe('ALARM');
    expect(alarmStatus(alarm(), burst, until(19))).toMatchObject({
      state: 'OK',
      since: noon + 19 * MINUTE,
      value: undefined,
    });
  });

  test('keeps its state where it ignores missing data', () => {
    expect(alarmStatus(alarm({ missingData: 'ignore' }), burst, until(60)).state).toBe('ALARM');
  });

  test('goes by the points of several periods', () => {
    const twice = alarm({ period: 60, evaluationPeriods: 2, datapointsToAlarm: 2, breaches: (value) => value >= 1 });

    expect(alarmStatus(twice, storeOf(1.5), until(2)).state).toBe('OK');
    expect(alarmStatus(twice, storeOf(1.5, 2.5), until(3)).state).toBe('ALARM');
  });

  test('evaluates a formula', () => {
    const formula = alarm({
      returned: 'share',
      queries: new Map([
        ['share', { kind: 'expression', expression: 'IF(failed >= 5, 100 * failed / all, 0)' }],
        ['failed', { kind: 'metric', metric: failures, statistic: sum }],
        ['all', { kind: 'metric', metric: { ...failures, name: 'All' }, statistic: sum }],
      ]),
    });
    const all = { ...failures, name: 'All', at: noon + 3 * MINUTE, value: 20 };
    const store = new MetricStore([all, ...[3.1, 3.2, 3.3, 3.4, 3.5].map((minute) => failureAt(minute))]);

    expect(alarmStatus(formula, store, until(4))).toMatchObject({ state: 'ALARM', value: 25 });
  });

  test('tells what of it a local run does not', () => {
    const queue = { namespace: 'AWS/SQS', name: 'ApproximateNumberOfMessagesVisible', dimensions: {} };
    const queries = new Map([['sum', { kind: 'metric' as const, metric: queue, statistic: sum }]]);

    expect(alarmStatus(alarm({ queries }), storeOf(), until(4))).toMatchObject({
      state: 'NOT_MEASURED',
      notMeasured: ['AWS/SQS ApproximateNumberOfMessagesVisible'],
    });
  });
});
