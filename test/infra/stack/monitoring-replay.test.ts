import { readFileSync } from 'node:fs';
import path from 'node:path';
import { runInNewContext } from 'node:vm';
import { expect, test } from '@jest/globals';
import * as v from 'valibot';
import { alarmDefinitions } from '../../../infra/stack/monitoring/alarm-table.ts';
import { batchThrottle, overflowBatchThrottle } from '../../../infra/stack/usage-plans.ts';
import { stages } from '../../../infra/stages.ts';
import { propertiesOf, readableStage } from '../../support/service-template.ts';
import { type AlarmMetric, alarms, type SynthesizedAlarm } from './synthesized-alarms.ts';

const production = readableStage('production');

const groupSchema = v.looseObject({
  AlarmConfiguration: v.object({ Alarms: v.array(v.object({ Name: v.string() })) }),
});
const [[, group] = []] = propertiesOf(production, 'AWS::CodeDeploy::DeploymentGroup', groupSchema);
const rollingBack = group?.AlarmConfiguration.Alarms.map(({ Name }) => Name) ?? [];

/** The values of metrics in every five minutes, by name and what distinguishes them. A missing one has no data. */
type Values = Readonly<Record<string, number>>;

const keyOf = ({ MetricName, Dimensions }: AlarmMetric): string => {
  const own = Dimensions.filter(({ Name }) => ['TableName', 'Resource', 'reason'].includes(Name));
  return [MetricName.replace('<stage>-Inventory-', ''), ...own.map(({ Value }) => Value)].join(' ');
};

/** CloudWatch's functions; a metric without data is NaN. */
const functions = {
  IF: (condition: boolean, then: number, otherwise: number) => (condition ? then : otherwise),
  FILL: (value: number, missing: number) => (Number.isNaN(value) ? missing : value),
  SUM: (values: readonly number[]) => {
    const found = values.filter((value) => !Number.isNaN(value));
    return found.length === 0 ? NaN : found.reduce((sum, value) => sum + value, 0);
  },
};

/** Whether a synthesized alarm fires on the same values in every five minutes. */
function fires({ Metrics, Threshold, ComparisonOperator }: SynthesizedAlarm, values: Values): boolean {
  const valueOf = (id: string): number => {
    const { Expression, MetricStat } = Metrics.find(({ Id }) => Id === id) ?? {};
    if (Expression === undefined) {
      const value = values[MetricStat ? keyOf(MetricStat.Metric) : ''] ?? NaN;
      return MetricStat?.Stat === 'Sum' ? (value * MetricStat.Period) / 300 : value;
    }
    const ids = Expression.match(/\b[a-z]\w*/g) ?? [];
    const named = Object.fromEntries(ids.map((one) => [one, valueOf(one)]));
    return Number(runInNewContext(Expression, { ...functions, ...named }));
  };
  const value = valueOf('expr_1');
  return ComparisonOperator === 'GreaterThanThreshold' ? value > Threshold : value >= Threshold;
}

const isPage = (id: string): boolean =>
  alarmDefinitions.some(([one, { severity }]) => one === id && severity === 'page');

/** The logical id of an alarm. */
const resourceOf = (id: string): string =>
  `<MonitoringAlarms${id.replaceAll(/(?:^|-)(.)/g, (_, first: string) => first.toUpperCase())}>`;

/** The alarms that wake an admin, and whether any rolls a release back. */
function replayed(values: Values) {
  const healthy = { [`Errors <KeySyncFunction>:live`]: 0, '4XXError': 0, '5XXError': 0, Throttles: 0 };
  const firing = alarms.filter(([, alarm]) => fires(alarm, { ...healthy, ...values })).map(([id]) => id);
  const rollsBack = firing.some((id) => rollingBack.includes(resourceOf(id)) || rollingBack.includes(`<${id}>`));
  return { pages: firing.filter(isPage), rollsBack };
}

test.each<[situation: string, values: Values, rollsBack: boolean, pages: readonly string[]]>([
  ['a quiet operation fails in a canary', { '5XXError': 2, Count: 2_000 }, true, []],
  ['one of many operations fails in a canary', { '5XXError': 60, Count: 100_000 }, true, []],
  ['one failure, possibly of the old version', { '5XXError': 1, Count: 20 }, false, []],
  ['as many failures as the old version may have', { '5XXError': 2, Count: 4_000 }, false, []],
  ['a canary that fails one request in 20', { '5XXError': 25, Count: 5_000 }, true, []],
  ['a version that fails one request in 20', { '5XXError': 250, Count: 5_000 }, true, ['api-errors']],
  ['a version that returns 503 to all', { '5XXError': 500, Count: 500 }, true, ['api-errors', 'outage']],
  [
    'a version that returns 503 to all, while others are throttled',
    { '5XXError': 500, Count: 500, Throttles: 9 },
    true,
    ['api-errors', 'outage', 'throttled-functions'],
  ],
  ['a version whose lists crash', { BrokenLists: 3 }, true, ['function-errors']],
  [
    'six Business keys with batch updates',
    {
      Count: 9_000,
      'ConsumedWriteCapacityUnits <TablesStock>': 225_000,
      'Invocations <StockEventsFunction>:live': 2_250,
    },
    false,
    [],
  ],
  ['slow clients', { Count: 60, BrokenLists: 60, ExcusedLists: 60 }, false, []],
  ['a flood over a limit', { Count: 30_000, '4XXError': 28_500, Refusals: 28_500, Requests: 30_000 }, false, []],
  ['throttled keys and entries', { '5XXError': 90, ThrottledRequests: 90, Count: 900 }, false, ['api-errors']],
  ['an exhausted account', { '5XXError': 90, Throttles: 90, Count: 900 }, false, ['api-errors', 'throttled-functions']],
  ['an outage at one request in ten minutes', { '5XXError': 0.5, Count: 2.5, '4XXError': 2 }, false, ['outage']],
  ['one success among failures in half an hour', { '5XXError': 0.5, Count: 4 / 6 }, false, []],
  ['a stopped stream', { 'ConsumedWriteCapacityUnits <TablesStock>': 2 }, false, ['stopped-events']],
  [
    'a working stream',
    { 'ConsumedWriteCapacityUnits <TablesStock>': 99, 'Invocations <StockEventsFunction>:live': 1 },
    false,
    [],
  ],
  ['a missing bus', { 'IteratorAge <StockEventsFunction>:live': 900_001 }, false, ['late-events']],
  ['an attack that costs 20 USD per hour', { Count: 300_000, '4XXError': 300_000 }, false, ['many-requests']],
])('The alarms roll back and page as expected: %s, %j', (_, values, rollsBack, pages) => {
  expect(replayed(values)).toEqual({ rollsBack, pages });
});

test('The batch concurrency has room for the documented number of keys at their full rate', () => {
  const page = readFileSync(path.join(import.meta.dirname, '../../../docs/operating/limits.md'), 'utf8');
  const keys = Number(/for (\d+) keys at their full rate/.exec(page)?.[1]);
  const secondsOfBatch = 25 / 50;
  const { rateLimit, burstLimit } = batchThrottle;

  expect(stages.production.batchConcurrency).toBe(
    keys * (burstLimit + rateLimit * secondsOfBatch) + overflowBatchThrottle.burstLimit,
  );
  // Single updates need the rest of the partition.
  expect(keys * rateLimit * 25).toBeLessThan(1_000);
});
