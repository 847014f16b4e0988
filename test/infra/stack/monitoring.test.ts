import { readFileSync } from 'node:fs';
import path from 'node:path';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from '@jest/globals';
import * as v from 'valibot';
import { alarmDefinitions } from '../../../infra/stack/monitoring/alarm-table.ts';
import { queries } from '../../../infra/stack/monitoring/queries.ts';
import { METRICS_NAMESPACE } from '../../../shared/log.ts';
import { propertiesOf, readableStage } from '../../support/service-template.ts';

const production = readableStage('production');

const metricSchema = v.object({
  Namespace: v.string(),
  MetricName: v.string(),
  Dimensions: v.optional(v.array(v.object({ Name: v.string(), Value: v.string() })), []),
});
const metricStat = v.object({ Metric: metricSchema, Stat: v.string(), Period: v.number() });
const alarmSchema = v.looseObject({
  AlarmName: v.optional(v.string(), ''),
  TreatMissingData: v.string(),
  ComparisonOperator: v.picklist(['GreaterThanThreshold', 'GreaterThanOrEqualToThreshold']),
  Threshold: v.number(),
  EvaluationPeriods: v.number(),
  DatapointsToAlarm: v.optional(v.number()),
  Metrics: v.array(
    v.object({ Id: v.string(), Expression: v.optional(v.string()), MetricStat: v.optional(metricStat) }),
  ),
});
/** The alarms of production by their names. That of the rollout has no name, and no recipient. */
const alarms = propertiesOf(production, 'AWS::CloudWatch::Alarm', alarmSchema).map(
  ([name, alarm]) => [alarm.AlarmName.replace('<stage>-Inventory-', '') || name, alarm] as const,
);

type SynthesizedAlarm = v.InferOutput<typeof alarmSchema>;
type AlarmMetric = v.InferOutput<typeof metricSchema>;

const ofApi = 'ApiName=Pet store inventory (<stage>), Stage=v1';
const ofUpdates = 'ApiName=Pet store inventory (<stage>), Method=PATCH, Resource=/inventory/{petId}, Stage=v1';
const ofStack = 'stack=<stage>-Inventory';
const live = (name: string) => `FunctionName=<${name}>, Resource=<${name}>:live`;

/**
 * When each alarm fires, and the metrics that it monitors, with all their dimensions; the last is that of the rollout.
 * None has more metrics where there are more operations: CloudWatch takes ten.
 */
const monitored = [
  `api-errors > 1, 1 × 300 s: AWS/ApiGateway 5XXError Sum ${ofApi}`,
  `api-errors > 1, 1 × 300 s: AWS/ApiGateway Count Sum ${ofApi}`,
  ...['5XXError', 'Count', '4XXError'].map((name) => `outage >= 100, 1 × 1800 s: AWS/ApiGateway ${name} Sum ${ofApi}`),
  `slow-answers > 3000, 1 × 300 s: AWS/ApiGateway Count Sum ${ofUpdates}`,
  `slow-answers > 3000, 1 × 300 s: AWS/ApiGateway Latency p99 ${ofUpdates}`,
  `function-errors >= 3, 1 × 300 s: ${METRICS_NAMESPACE} <stage>-Inventory-BrokenLists Sum `,
  `function-errors >= 3, 1 × 300 s: ${METRICS_NAMESPACE} ExcusedLists Sum ${ofStack}`,
  `gateway-refusals >= 3, 1 × 300 s: ${METRICS_NAMESPACE} <stage>-Inventory-GatewayRefusals Sum `,
  `uncounted-requests >= 5, 1 × 300 s: ${METRICS_NAMESPACE} Refusals Sum reason=SERVICE_UNAVAILABLE, ${ofStack}`,
  'throttled-functions >= 5, 1 × 300 s: AWS/Lambda Throttles Sum ',
  'throttled-database >= 5, 1 × 300 s: AWS/DynamoDB WriteThrottleEvents Sum TableName=<TablesKeys>',
  'throttled-database >= 5, 1 × 300 s: AWS/DynamoDB WriteThrottleEvents Sum TableName=<TablesStock>',
  `sync-missing >= 1, 1 × 900 s: AWS/Lambda Errors Minimum ${live('KeySyncFunction')}`,
  `sync-problems >= 2, 1 × 900 s: ${METRICS_NAMESPACE} SyncProblems SampleCount service=sync-keys, ${ofStack}`,
  `sync-problems >= 2, 1 × 900 s: ${METRICS_NAMESPACE} KeysOpened SampleCount service=sync-keys, ${ofStack}`,
  `late-events > 900000, 1 × 300 s: AWS/Lambda IteratorAge Maximum ${live('StockEventsFunction')}`,
  'stopped-events >= 10, 1 × 1800 s: AWS/DynamoDB ConsumedWriteCapacityUnits Sum TableName=<TablesStock>',
  `stopped-events >= 10, 1 × 1800 s: AWS/Lambda Invocations Sum ${live('StockEventsFunction')}`,
  'unpublished-events >= 1, 1 × 300 s: AWS/SQS ApproximateNumberOfMessagesVisible Maximum ' +
    'QueueName=<StockEventsUnpublished.QueueName>',
  `many-refusals > 20, 3 × 300 s: ${METRICS_NAMESPACE} Refusals Sum ${ofStack}`,
  `many-refusals > 20, 3 × 300 s: ${METRICS_NAMESPACE} Requests Sum ${ofStack}`,
  `many-requests >= 300000, 3 × 300 s: AWS/ApiGateway Count Sum ${ofApi}`,
  'firewall-blocks >= 1000, 3 × 300 s: AWS/WAFV2 BlockedRequests Sum ' +
    'Region=<AWS::Region>, Rule=ALL, WebACL=<stage>-Inventory-Firewall',
  `RolloutFewErrors > 0.05, 1 × 300 s: AWS/ApiGateway 5XXError Sum ${ofApi}`,
  'RolloutFewErrors > 0.05, 1 × 300 s: AWS/Lambda Throttles Sum ',
  `RolloutFewErrors > 0.05, 1 × 300 s: ${METRICS_NAMESPACE} ThrottledRequests Sum ${ofStack}`,
  `RolloutFewErrors > 0.05, 1 × 300 s: AWS/ApiGateway Count Sum ${ofApi}`,
];

describe('the alarms', () => {
  test('monitor the expected metrics on production, and do not exist on staging', () => {
    const found = alarms.flatMap(([id, { Threshold, Metrics, ComparisonOperator, ...alarm }]) => {
      const comparison = ComparisonOperator === 'GreaterThanThreshold' ? '>' : '>=';
      return Metrics.flatMap(({ MetricStat }) => MetricStat ?? []).map(({ Metric, Stat, Period }) => {
        const { EvaluationPeriods, DatapointsToAlarm = EvaluationPeriods } = alarm;
        const periods = EvaluationPeriods === DatapointsToAlarm ? EvaluationPeriods : NaN;
        const when = `${comparison} ${Threshold}, ${periods} × ${Period} s`;
        const dimensions = Metric.Dimensions.map(({ Name, Value }) => `${Name}=${Value}`).join(', ');
        return `${id} ${when}: ${Metric.Namespace} ${Metric.MetricName} ${Stat} ${dimensions}`;
      });
    });

    expect(found).toEqual(monitored);
    expect(propertiesOf(readableStage('staging'), 'AWS::CloudWatch::Alarm', v.unknown())).toEqual([]);
  });

  test('that roll back a release need five minutes, which is less than a canary takes', () => {
    const rollback = alarmDefinitions.filter(([, { rollsBack }]) => rollsBack);

    expect(rollback.map(([id]) => id)).toEqual(['slow-answers', 'function-errors']);
    expect(production['RolloutFewErrors']).not.toHaveProperty('Properties.AlarmActions');
    for (const [, { periodMinutes = 5, periods = 1 }] of rollback) expect(periodMinutes * periods).toBe(5);
  });

  test('treat missing data as healthy, except sync-missing', () => {
    for (const [id, { TreatMissingData, Metrics }] of alarms) {
      const expected = id === 'sync-missing' ? ['breaching', 'FILL(found, 1)'] : ['notBreaching', 'FILL(found, 0)'];
      expect([TreatMissingData, Metrics[0]?.Expression?.replace('percent', 'found')]).toEqual(expected);
    }
  });
});

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

test('Three metric filters match gateway refusals of admitted requests, and lists that failed', () => {
  const schema = v.looseObject({ FilterPattern: v.string(), LogGroupName: v.string() });
  const filters = propertiesOf(production, 'AWS::Logs::MetricFilter', schema);
  const logSchema = v.object({ AccessLogSetting: v.object({ Format: v.record(v.string(), v.string()) }) });
  const [[, stage] = []] = propertiesOf(production, 'AWS::ApiGateway::Stage', logSchema);

  expect(filters.map(([, { LogGroupName }]) => LogGroupName)).toEqual(
    ['ApiAccess', 'FunctionsListInventory', 'FunctionsListOrders'].map((name) => `<${name}Logs>`),
  );
  expect(new Set(filters.map(([, { FilterPattern }]) => FilterPattern))).toEqual(
    new Set([
      '{ ($.outcome = "ADMITTED") && (($.gatewayError = "INVALID_API_KEY") || ($.gatewayError = "THROTTLED") || ' +
        '($.gatewayError = "QUOTA_EXCEEDED")) && (($.method != "PATCH") || ($.resource != "/inventory")) }',
      '{ ($.type = "platform.report") && ($.record.status != "success") }',
    ]),
  );
  expect(stage?.AccessLogSetting.Format).toMatchObject({
    requestId: '$context.requestId',
    ip: '$context.identity.sourceIp',
    status: '$context.status',
    milliseconds: '$context.responseLatency',
    keyId: '$context.authorizer.principalId',
    outcome: '$context.authorizer.outcome',
    gatewayError: '$context.error.responseType',
    method: '$context.httpMethod',
    resource: '$context.resourcePath',
  });
});

describe('docs/runbooks.md', () => {
  const page = readFileSync(path.join(import.meta.dirname, '../../../docs/runbooks.md'), 'utf8');
  const [index = '', ...sections] = page.split(/^## /m).map((section) => section.trim());

  test('has a section for each alarm, in the order of the table, and one for a stuck stack', () => {
    const [, ...titles] = sections.map((section) => section.split('\n')[0]);

    expect(titles).toEqual([...alarmDefinitions.map(([id]) => id), 'Stuck stack']);
  });

  test.each(alarmDefinitions)('has %s in its index, and its declared first step in its section', (id, alarm) => {
    const { title, severity, when, firstStep, rollsBack = false } = alarm;
    const section = sections.find((one) => one.startsWith(`${id}\n`)) ?? '';
    const [firstLook = ''] = /^1\. .*?(?=^3\. )/ms.exec(section) ?? [];
    const rows = index
      .split('\n')
      .filter((line) => line.includes(`(#${id})`))
      .map((line) => line.split('|').map((cell) => cell.trim()));

    expect(rows).toEqual([['', `[${id}](#${id})`, title, severity, when, rollsBack ? 'yes' : 'no', '']]);
    for (const [, named] of firstStep.matchAll(/"([^"]+)"/g)) expect(firstLook).toContain(`**${named}**`);
  });

  test('names only saved queries and dashboard graphs that exist', () => {
    const text = page.replaceAll(/\s+/g, ' ');
    const names = (pattern: RegExp) => [...text.matchAll(pattern)].map(([, name]) => name);
    const namedQueries = names(/saved quer(?:y|ies) \*\*([^*]+)\*\*/g);
    const namedGraphs = names(/dashboard, \*\*([^*]+)\*\*/g);
    const dashboard = JSON.stringify(production['MonitoringDashboard']);

    expect(namedQueries.length).toBeGreaterThan(5);
    expect(Object.values(queries).map(({ name }) => name)).toEqual(expect.arrayContaining(namedQueries));
    expect(namedGraphs.length).toBeGreaterThanOrEqual(4);
    for (const title of namedGraphs) expect(dashboard).toContain(`"title":"${title}`);
    for (const [name] of propertiesOf(production, 'AWS::Lambda::Function', v.unknown()).filter(
      ([id]) => !id.startsWith('AWS'),
    ))
      expect(dashboard).toContain(`["AWS/Lambda","Errors","FunctionName","<${name}>"`);
  });
});
