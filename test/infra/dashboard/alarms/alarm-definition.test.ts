import { describe, expect, test } from '@jest/globals';
import { alarmsOf } from '../../../../infra/dashboard/alarms/alarm-definition.ts';
import { DashboardError } from '../../../../infra/dashboard/dashboard-error.ts';
import { LocalStack } from '../../../../infra/local/template/stack.ts';

const metric = { Namespace: 'Store', MetricName: 'Failed', Dimensions: [{ Name: 'stack', Value: 's' }] };
const comparison = { ComparisonOperator: 'GreaterThanThreshold', Threshold: 5, EvaluationPeriods: 3 };
const simple = { ...metric, ...comparison, AlarmName: 'failures', Period: 60, Statistic: 'Sum' };

function alarmOf(properties: object) {
  const template = { Resources: { Failures: { Type: 'AWS::CloudWatch::Alarm', Properties: properties } } };
  return alarmsOf(new LocalStack('test-Inventory', template))[0];
}

describe('an alarm of the template', () => {
  test('watches a metric', () => {
    expect(alarmOf(simple)).toMatchObject({
      name: 'failures',
      period: 60,
      evaluationPeriods: 3,
      // What CloudWatch takes where the template does not say.
      datapointsToAlarm: 3,
      missingData: 'missing',
      returned: 'metric',
    });
    expect(alarmOf(simple)?.queries.get('metric')).toMatchObject({
      metric: { namespace: 'Store', name: 'Failed', dimensions: { stack: 's' } },
    });
  });

  test('watches a percentile', () => {
    const { Statistic: _, ...others } = simple;

    expect(alarmOf({ ...others, ExtendedStatistic: 'p99' })?.queries.get('metric')).toMatchObject({ kind: 'metric' });
  });

  test('watches the formula that is returned', () => {
    const Metrics = [
      { Id: 'share', Expression: 'failed / 2', ReturnData: true },
      { Id: 'failed', MetricStat: { Metric: metric, Period: 300, Stat: 'Sum' }, ReturnData: false },
    ];

    expect(alarmOf({ ...comparison, Metrics })).toMatchObject({ period: 300, returned: 'share' });
  });

  test.each([
    ['GreaterThanThreshold', [false, false, true]],
    ['GreaterThanOrEqualToThreshold', [false, true, true]],
    ['LessThanThreshold', [true, false, false]],
    ['LessThanOrEqualToThreshold', [true, true, false]],
  ])('with %s and 5 breaches or not at 4, 5, 6: %j', (ComparisonOperator, breaches) => {
    const alarm = alarmOf({ ...simple, ComparisonOperator });

    expect([4, 5, 6].map((value) => alarm?.breaches(value))).toEqual(breaches);
  });

  test.each([
    ['an anomaly', { ...simple, ComparisonOperator: 'GreaterThanUpperThreshold' }],
    ['a trimmed mean', { ...simple, Statistic: 'tm99' }],
    ['nothing', { ...comparison, Metrics: [] }],
    ['a treatment of missing data', { ...simple, TreatMissingData: 'wait' }],
  ])('that watches %s is not known', (_, properties) => {
    expect(() => alarmOf(properties)).toThrow(DashboardError);
  });
});
