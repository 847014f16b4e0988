import { readFileSync } from 'node:fs';
import path from 'node:path';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from '@jest/globals';
import * as v from 'valibot';
import { alarmDefinitions, conditionOf } from '../../../infra/stack/monitoring/alarm-table.ts';
import { queries } from '../../../infra/stack/monitoring/queries.ts';
import { METRICS_NAMESPACE } from '../../../shared/log.ts';
import { propertiesOf, readableStage } from '../../support/service-template.ts';

const production = readableStage('production');

const metricStat = v.object({
  Metric: v.object({
    Namespace: v.string(),
    MetricName: v.string(),
    Dimensions: v.optional(v.array(v.object({ Name: v.string(), Value: v.string() })), []),
  }),
  Stat: v.string(),
  Period: v.number(),
});
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
const alarms = new Map(
  propertiesOf(production, 'AWS::CloudWatch::Alarm', alarmSchema).map(
    ([name, alarm]) => [alarm.AlarmName.replace('<stage>-Inventory-', '') || name, alarm] as const,
  ),
);

const ofApi = 'ApiName=Pet store inventory (<stage>), Stage=v1';
const ofUpdates = 'ApiName=Pet store inventory (<stage>), Method=PATCH, Resource=/inventory/{petId}, Stage=v1';
const ofStack = 'stack=<stage>-Inventory';
const live = (name: string) => `FunctionName=<${name}>, Resource=<${name}>:live`;

/** What AWS and the service's logs call the metrics of the situations. */
const metricNames = {
  requests: `AWS/ApiGateway Count Sum ${ofApi}`,
  failed: `AWS/ApiGateway 5XXError Sum ${ofApi}`,
  refused: `AWS/ApiGateway 4XXError Sum ${ofApi}`,
  updates: `AWS/ApiGateway Count Sum ${ofUpdates}`,
  p99: `AWS/ApiGateway Latency p99 ${ofUpdates}`,
  throttles: 'AWS/Lambda Throttles Sum ',
  syncErrors: `AWS/Lambda Errors Minimum ${live('KeySyncFunction')}`,
  eventAge: `AWS/Lambda IteratorAge Maximum ${live('StockEventsFunction')}`,
  eventCalls: `AWS/Lambda Invocations Sum ${live('StockEventsFunction')}`,
  unpublished: 'AWS/SQS ApproximateNumberOfMessagesVisible Maximum QueueName=<StockEventsUnpublished.QueueName>',
  stockWrites: 'AWS/DynamoDB ConsumedWriteCapacityUnits Sum TableName=<TablesStock>',
  throttledStock: 'AWS/DynamoDB WriteThrottleEvents Sum TableName=<TablesStock>',
  throttledKeys: 'AWS/DynamoDB WriteThrottleEvents Sum TableName=<TablesKeys>',
  blocked: 'AWS/WAFV2 BlockedRequests Sum Region=<AWS::Region>, Rule=ALL, WebACL=<stage>-Inventory-Firewall',
  brokenLists: `${METRICS_NAMESPACE} <stage>-Inventory-BrokenLists Sum `,
  excusedLists: `${METRICS_NAMESPACE} ExcusedLists Sum ${ofStack}`,
  refusedAdmitted: `${METRICS_NAMESPACE} <stage>-Inventory-GatewayRefusals Sum `,
  counted: `${METRICS_NAMESPACE} Requests Sum ${ofStack}`,
  limited: `${METRICS_NAMESPACE} Refusals Sum ${ofStack}`,
  unrecorded: `${METRICS_NAMESPACE} UnrecordedChanges Sum ${ofStack}`,
  uncounted: `${METRICS_NAMESPACE} Refusals Sum reason=SERVICE_UNAVAILABLE, ${ofStack}`,
  busy: `${METRICS_NAMESPACE} ThrottledRequests Sum ${ofStack}`,
  problems: `${METRICS_NAMESPACE} SyncProblems SampleCount service=sync-keys, ${ofStack}`,
  opened: `${METRICS_NAMESPACE} KeysOpened SampleCount service=sync-keys, ${ofStack}`,
};
/** Values in every five minutes. A missing one has no data. */
type Values = Readonly<Partial<Record<keyof typeof metricNames, number>>>;

/** CloudWatch's functions; a metric without data is NaN. */
const functions = {
  IF: (condition: boolean, then: number, otherwise: number) => (condition ? then : otherwise),
  FILL: (value: number, missing: number) => (Number.isNaN(value) ? missing : value),
  SUM: (values: readonly number[]) => {
    const found = values.filter((value) => !Number.isNaN(value));
    return found.length === 0 ? NaN : found.reduce((sum, value) => sum + value, 0);
  },
};

/** The value of a metric in its period. @throws Error if no situation knows the metric */
function measured({ Metric, Stat, Period }: v.InferOutput<typeof metricStat>, values: Values): number {
  const dimensions = Metric.Dimensions.map(({ Name, Value }) => `${Name}=${Value}`).join(', ');
  const name = `${Metric.Namespace} ${Metric.MetricName} ${Stat} ${dimensions}`;
  const found = Object.entries(metricNames).find(([, one]) => one === name);
  if (!found) throw new Error(`There is no metric ${name}`);
  const value = new Map(Object.entries(values)).get(found[0]) ?? NaN;
  return ['Sum', 'SampleCount'].includes(Stat) ? (value * Period) / 300 : value;
}

/** Whether a synthesized alarm fires on the same values in every five minutes. */
function fires({ Metrics, Threshold, ComparisonOperator }: v.InferOutput<typeof alarmSchema>, values: Values): boolean {
  const valueOf = (id: string): number => {
    const { Expression = '', MetricStat } = Metrics.find(({ Id }) => Id === id) ?? {};
    if (MetricStat) return measured(MetricStat, values);
    const ids = Expression.match(/\b[a-z]\w*/g) ?? [];
    const named = Object.fromEntries(ids.map((one) => [one, valueOf(one)]));
    return Number(runInNewContext(Expression, { ...functions, ...named }));
  };
  const value = valueOf('expr_1');
  return ComparisonOperator === 'GreaterThanThreshold' ? value > Threshold : value >= Threshold;
}

/** What has data in a service that works. */
const healthy: Values = { syncErrors: 0, refused: 0, failed: 0, throttles: 0 };
const firing = (values: Values): string[] =>
  [...alarms].filter(([, alarm]) => fires(alarm, { ...healthy, ...values })).map(([id]) => id);

test.each<[alarm: string, minutes: number, fires: Values, not: Values]>([
  ['api-errors', 5, { failed: 5, requests: 499 }, { failed: 5, requests: 500 }],
  ['api-errors', 5, { failed: 5, requests: 5 }, { failed: 4, requests: 4 }],
  ['outage', 30, { failed: 0.5, requests: 2.5, refused: 2 }, { failed: 0.5, requests: 4 / 6 }],
  ['outage', 30, { failed: 0.5, requests: 0.5 }, { failed: 2 / 6, requests: 2 / 6 }],
  ['slow-answers', 5, { updates: 100, p99: 3_001 }, { updates: 100, p99: 3_000 }],
  ['slow-answers', 5, { updates: 100, p99: 3_001 }, { updates: 99, p99: 3_001 }],
  ['function-errors', 5, { brokenLists: 4, excusedLists: 1 }, { brokenLists: 4, excusedLists: 2 }],
  ['gateway-refusals', 5, { refusedAdmitted: 3 }, { refusedAdmitted: 2 }],
  ['uncounted-requests', 5, { uncounted: 5 }, { uncounted: 4 }],
  ['throttled-functions', 5, { throttles: 5 }, { throttles: 4 }],
  ['throttled-database', 5, { throttledKeys: 3, throttledStock: 2 }, { throttledKeys: 3, throttledStock: 1 }],
  ['sync-missing', 15, { syncErrors: 1 }, { syncErrors: 0 }],
  ['sync-problems', 15, { problems: 1 / 3, opened: 1 / 3 }, { problems: 1 / 3 }],
  ['late-events', 5, { eventAge: 900_001 }, { eventAge: 900_000 }],
  ['stopped-events', 30, { stockWrites: 10 / 6 }, { stockWrites: 9 / 6 }],
  ['stopped-events', 30, { stockWrites: 99 }, { stockWrites: 99, eventCalls: 1 }],
  ['unpublished-events', 5, { unpublished: 1 }, { unpublished: 0 }],
  ['unrecorded-changes', 60, { unrecorded: 10 / 12 }, { unrecorded: 9 / 12 }],
  ['many-refusals', 15, { limited: 500, counted: 2_499 }, { limited: 500, counted: 2_500 }],
  ['many-refusals', 15, { limited: 500, counted: 500 }, { limited: 499, counted: 499 }],
  ['many-requests', 15, { requests: 300_000 }, { requests: 299_999 }],
  ['firewall-blocks', 15, { blocked: 1_000 }, { blocked: 999 }],
  // Of 100 failures, 95 are not the release's.
  [
    'RolloutFewErrors',
    5,
    { failed: 100, throttles: 94, busy: 1, requests: 9_999 },
    { failed: 100, throttles: 94, busy: 1, requests: 10_000 },
  ],
  ['RolloutFewErrors', 5, { failed: 2, requests: 20 }, { failed: 1, requests: 20 }],
])('%s fires after %i minutes of %j, not of %j', (id, minutes, values, others) => {
  const { EvaluationPeriods: periods, DatapointsToAlarm = periods, Metrics } = v.parse(alarmSchema, alarms.get(id));
  const lengths = Metrics.flatMap(({ MetricStat }) => MetricStat?.Period ?? []);

  expect(new Set(lengths.map((seconds) => (seconds / 60) * periods))).toEqual(new Set([minutes]));
  expect(DatapointsToAlarm).toBe(periods);
  expect(firing(values)).toContain(id);
  expect(firing(others)).not.toContain(id);
});

test.each<[situation: string, values: Values, expected: readonly string[]]>([
  ['one of many operations fails in a canary', { failed: 60, requests: 100_000 }, ['RolloutFewErrors']],
  ['a canary that fails one request in 20', { failed: 25, requests: 5_000 }, ['RolloutFewErrors']],
  ['a version that fails one request in 20', { failed: 250, requests: 5_000 }, ['api-errors', 'RolloutFewErrors']],
  ['a version whose lists crash', { brokenLists: 3 }, ['function-errors']],
  ['six Business keys with batch updates', { requests: 9_000, stockWrites: 225_000, eventCalls: 2_250 }, []],
  ['slow clients', { requests: 60, brokenLists: 60, excusedLists: 60 }, []],
  ['a flood over a limit', { requests: 30_000, refused: 28_500, limited: 28_500, counted: 30_000 }, ['many-refusals']],
  ['throttled keys and entries', { failed: 90, busy: 90, requests: 900 }, ['api-errors']],
  ['an exhausted account', { failed: 90, throttles: 90, requests: 900 }, ['api-errors', 'throttled-functions']],
  ['an attack that costs 20 USD per hour', { requests: 300_000, refused: 300_000 }, ['many-requests']],
])('In the situation "%s", %j, the alarms %j fire', (_, values, expected) => {
  expect(firing(values)).toEqual(expected);
});

test('Only sync-missing fires without data; that of the rollout has no recipients, and staging has no alarms', () => {
  const breaching = [...alarms].filter(([, { TreatMissingData }]) => TreatMissingData !== 'notBreaching');

  expect(breaching.map(([id]) => id)).toEqual(['sync-missing']);
  expect([...alarms].filter(([, alarm]) => fires(alarm, {})).map(([id]) => id)).toEqual(['sync-missing']);
  expect(production['RolloutFewErrors']).not.toHaveProperty('Properties.AlarmActions');
  expect(propertiesOf(readableStage('staging'), 'AWS::CloudWatch::Alarm', v.unknown())).toEqual([]);
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
    const { title, severity, firstStep, rollsBack = false } = alarm;
    const section = sections.find((one) => one.startsWith(`${id}\n`)) ?? '';
    const [firstLook = ''] = /^1\. .*?(?=^3\. )/ms.exec(section) ?? [];
    const rows = index
      .split('\n')
      .filter((line) => line.includes(`(#${id})`))
      .map((line) => line.split('|').map((cell) => cell.trim()));

    expect(rows).toEqual([['', `[${id}](#${id})`, title, severity, conditionOf(alarm), rollsBack ? 'yes' : 'no', '']]);
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
