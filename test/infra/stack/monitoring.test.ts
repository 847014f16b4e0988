import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import * as v from 'valibot';
import { alarmDefinitions } from '../../../infra/stack/monitoring/alarm-table.ts';
import { queries } from '../../../infra/stack/monitoring/queries.ts';
import { METRICS_NAMESPACE } from '../../../shared/log.ts';
import { alarms } from './synthesized-alarms.ts';
import { propertiesOf, readableStage } from '../../support/service-template.ts';

const production = readableStage('production');
const alarmIds = alarmDefinitions.map(([id]) => id);

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
  `function-errors >= 3, 1 × 300 s: ${METRICS_NAMESPACE} <stage>-Inventory-ExcusedLists Sum `,
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
  `RolloutFewErrors > 0.05, 1 × 300 s: ${METRICS_NAMESPACE} <stage>-Inventory-ThrottledRequests Sum `,
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

  test('have descriptions within the size limit of CloudWatch', () => {
    for (const [, { AlarmDescription }] of propertiesOf(production, 'AWS::CloudWatch::Alarm', v.looseObject({})))
      expect(Buffer.byteLength(String(AlarmDescription))).toBeLessThanOrEqual(1_024);
  });

  test('that roll a release back need five minutes, less than a canary takes', () => {
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

test('Metric filters match gateway refusals of admitted requests, and calls that failed', () => {
  const schema = v.looseObject({ FilterPattern: v.string(), LogGroupName: v.string() });
  const filters = propertiesOf(production, 'AWS::Logs::MetricFilter', schema);
  const logSchema = v.object({ AccessLogSetting: v.object({ Format: v.record(v.string(), v.string()) }) });
  const [[, stage] = []] = propertiesOf(production, 'AWS::ApiGateway::Stage', logSchema);

  const called = propertiesOf(production, 'AWS::Lambda::Function', v.unknown())
    .map(([name]) => name)
    .filter((name) => name.startsWith('Functions'));
  const throttled = '($.cause = "*Exceeded*") || ($.cause = "Throttling*") || ($.cause = "Transaction*")';

  expect(filters.map(([, { LogGroupName }]) => LogGroupName)).toEqual(
    [
      'ApiAccessLogs',
      ...['ListInventory', 'ListInventory', 'ListOrders', 'ListOrders'].map((name) => `Functions${name}Logs`),
      ...called.map((name) => `${name}Logs`),
    ].map((name) => `<${name}>`),
  );
  expect(new Set(filters.map(([, { FilterPattern }]) => FilterPattern))).toEqual(
    new Set([
      '{ ($.outcome = "ADMITTED") && (($.gatewayError = "INVALID_API_KEY") || ($.gatewayError = "THROTTLED") || ' +
        '($.gatewayError = "QUOTA_EXCEEDED")) && (($.method != "PATCH") || ($.resource != "/inventory")) }',
      '{ ($.type = "platform.report") && ($.record.status != "success") }',
      `{ ($.complete IS FALSE) && (${throttled} || ($.cause = "SlowClientError")) }`,
      `{ ($.complete NOT EXISTS) && (${throttled}) }`,
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

    expect(titles).toEqual([...alarmIds, 'Stuck stack']);
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
