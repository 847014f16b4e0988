import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import * as v from 'valibot';
import { alarmDefinitions } from '../../../../infra/stack/monitoring/alarm-table.ts';
import { readableStage } from '../../../support/readable-template.ts';
import { resourcesOf, synthesizedStages } from '../../../support/synthesized.ts';

const { staging, production } = synthesizedStages();

const metricSchema = v.object({ Namespace: v.string(), MetricName: v.string() });
const queryMetric = v.object({
  Id: v.string(),
  Expression: v.optional(v.string()),
  MetricStat: v.optional(v.object({ Metric: metricSchema, Period: v.number(), Stat: v.string() })),
});
const alarmSchema = v.looseObject({
  AlarmName: v.string(),
  TreatMissingData: v.string(),
  Metrics: v.optional(v.array(queryMetric), []),
});
const alarmsOf = (stage: typeof staging) =>
  resourcesOf(stage, 'AWS::CloudWatch::Alarm', alarmSchema).map(({ properties }) => {
    const { AlarmName, TreatMissingData, Metrics } = properties;
    return { id: AlarmName.replace(/^\w+-Inventory-/, ''), TreatMissingData, Metrics };
  });
const alarms = alarmsOf(production);
const alarmNamed = (wanted: string) => alarms.find(({ id }) => id === wanted);

describe('the alarms', () => {
  test('are those of the table, on a stage that has alarms', () => {
    const ids = alarmDefinitions.map(([id]) => id);

    expect(alarms.map(({ id }) => id)).toEqual(ids);
    expect(alarmsOf(staging)).toEqual([]);
  });

  test('look at metrics that there are', () => {
    const watched = alarms.map(({ id, Metrics }) => {
      const stats = Metrics.flatMap(({ MetricStat }) => MetricStat ?? []);
      return `${id}: ${stats.map(({ Metric, Stat }) => `${Stat} of ${Metric.Namespace} ${Metric.MetricName}`).join(', ')}`;
    });

    expect(watched).toEqual([
      'api-errors: Sum of AWS/ApiGateway 5XXError, Sum of AWS/ApiGateway Count',
      'slow-answers: Sum of AWS/ApiGateway Count, p99 of AWS/ApiGateway Latency',
      'authorizer-errors: Sum of AWS/Lambda Errors',
      'function-errors: Sum of AWS/Lambda Errors, Sum of AWS/Lambda Errors',
      'gateway-refusals: Sum of PetStoreInventory production-Inventory-GatewayRefusals',
      'uncounted-requests: Sum of PetStoreInventory Refusals',
      'throttled-functions: Sum of AWS/Lambda Throttles',
      'throttled-database: Sum of AWS/DynamoDB WriteThrottleEvents, Sum of AWS/DynamoDB WriteThrottleEvents',
      'sync-missing: Minimum of AWS/Lambda Errors',
      'sync-problems: SampleCount of PetStoreInventory SyncProblems',
      'many-refusals: Sum of PetStoreInventory Refusals, Sum of PetStoreInventory Requests',
      'firewall-blocks: Sum of AWS/WAFV2 BlockedRequests',
    ]);
  });

  test('that take a release back look at what a release can break, and within five minutes: no canary is over by then', () => {
    const rollback = alarmDefinitions.filter(([, { rollsBack }]) => rollsBack);

    expect(rollback.map(([id]) => id)).toEqual(['api-errors', 'slow-answers', 'authorizer-errors', 'function-errors']);
    for (const [, { periodMinutes = 5, periods = 1 }] of rollback) expect(periodMinutes * periods).toBe(5);
  });

  test('take nothing for good news, but for the one that misses the sync', () => {
    const treated = alarms.map(({ id, TreatMissingData, Metrics }) => [id, TreatMissingData, Metrics[0]?.Expression]);

    expect(treated).toEqual(
      alarms.map(({ id }) =>
        id === 'sync-missing' ? [id, 'breaching', 'FILL(found, 1)'] : [id, 'notBreaching', 'FILL(found, 0)'],
      ),
    );
  });

  test.each(['api-errors', 'many-refusals'])('%s wants some failures before it is a share', (id) => {
    const formulas = (alarmNamed(id)?.Metrics ?? []).map(({ Expression }) => Expression);

    expect(formulas).toContainEqual(expect.stringMatching(/^IF\((\w+) >= \d{1,3}, 100 \* \1 \/ \w+, 0\)$/));
  });

  test.each(alarms)(
    '$id has at most the ten metrics that CloudWatch takes, all of one period',
    ({ Metrics: metrics }) => {
      const stats = metrics.flatMap(({ MetricStat }) => MetricStat ?? []);

      expect(stats.length).toBeLessThanOrEqual(10);
      expect(new Set(stats.map(({ Period }) => Period)).size).toBeLessThanOrEqual(1);
      expect(new Set(metrics.map(({ Id }) => Id)).size).toBe(metrics.length);
    },
  );
});

const widgetSchema = v.object({
  type: v.picklist(['text', 'alarm', 'metric', 'log']),
  x: v.number(),
  y: v.number(),
  width: v.number(),
  height: v.number(),
  properties: v.looseObject({
    title: v.optional(v.string()),
    metrics: v.optional(v.array(v.array(v.unknown())), []),
    alarms: v.optional(v.array(v.string())),
  }),
});
const optionsSchema = v.looseObject({ id: v.optional(v.string()), expression: v.optional(v.string(), '') });
const dashboardSchema = v.object({
  Properties: v.object({ DashboardBody: v.object({ widgets: v.array(widgetSchema) }) }),
});

describe('the dashboard', () => {
  const dashboard = readableStage('production')['Inventory/MonitoringDashboard'];
  const { widgets } = v.parse(dashboardSchema, dashboard).Properties.DashboardBody;

  test('has widgets that do not overlap, within its 24 columns', () => {
    const cells = widgets.flatMap(({ x, y, width, height }) => {
      expect(x + width).toBeLessThanOrEqual(24);
      return Array.from(
        { length: width * height },
        (_, index) => `${x + (index % width)},${y + Math.floor(index / width)}`,
      );
    });

    expect(new Set(cells).size).toBe(cells.length);
  });

  test.each(widgets.filter(({ type }) => type === 'metric'))(
    'has formulas over metrics that the graph has, in numbers that CloudWatch reads: $properties.title',
    ({ properties: { metrics } }) => {
      const options = metrics.map((metric) => v.parse(optionsSchema, metric.at(-1)));
      const ids = options.flatMap(({ id }) => id ?? []);

      expect(new Set(ids).size).toBe(ids.length);
      for (const { expression } of options) {
        for (const [used] of expression.matchAll(/\b[a-z]\w*/g)) expect(ids).toContain(used);
        expect(expression).not.toMatch(/SEARCH|\de-?\d/);
      }
    },
  );

  test('has the graphs that the runbooks name, and every alarm', () => {
    const text = readFileSync(path.join(import.meta.dirname, '../../../../docs/runbooks.md'), 'utf8');
    const named = [...text.matchAll(/dashboard, \*\*([^*]+)\*\*/g)].map(([, title]) => title);
    const titles = widgets.map(({ properties: { title = '' } }) => title);

    expect(named.length).toBeGreaterThanOrEqual(4);
    for (const title of named) expect(titles).toContainEqual(expect.stringMatching(`^${title}`));
    expect(widgets.find(({ type }) => type === 'alarm')?.properties.alarms).toHaveLength(alarmDefinitions.length);
  });
});
