import { Stack } from 'aws-cdk-lib';
import type { Alarm } from 'aws-cdk-lib/aws-cloudwatch';
import { FilterPattern, type IFilterPattern, type LogGroup, MetricFilter } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { operations } from '../../../shared/contract/operations.ts';
import { ADMITTED } from '../../../shared/http/request.ts';
import { METRICS_NAMESPACE, SLOW_CLIENT } from '../../../shared/log.ts';
import type { StageSettings } from '../../stages.ts';
import { Alarms } from './alarms.ts';
import { ServiceDashboard } from './dashboard.ts';
import { type LogMetric, logMetricName, type Monitored } from './metrics.ts';
import { SavedQueries } from './queries.ts';

/** API Gateway must never refuse what the limiter has admitted, except for batch updates beyond their throttle. */
const REFUSALS = ['INVALID_API_KEY', 'THROTTLED', 'QUOTA_EXCEEDED'];

const { method, path } = operations.updateInventories;

/** A filter on the fields of the access log (see inventory-api.ts). */
const refusedAfterAll = FilterPattern.literal(
  `{ ($.outcome = "${ADMITTED}") && (${anyOf('gatewayError', REFUSALS)}) && (($.method != "${method}") || ($.resource != "${path}")) }`,
);

/** Lambda's log line about a failed invocation, one for each (Telemetry API, `platform.report`). */
const failedCall = FilterPattern.literal('{ ($.type = "platform.report") && ($.record.status != "success") }');

/** Causes of a request that DynamoDB throttled, or that met other writes, as named in shared/dynamodb.ts. */
const THROTTLED = ['*Exceeded*', 'Throttling*'];
const CONTENDED = ['Transaction*', 'ConditionalCheckFailed'];
/** With another status the failure is ours, whatever its cause is called. */
const throttledRequest = FilterPattern.literal(
  `{ ($.status = "503") && (${anyOf('cause', [...THROTTLED, ...CONTENDED])}) }`,
);
const excusedList = FilterPattern.literal(
  `{ ($.complete IS FALSE) && (${anyOf('cause', [...THROTTLED, SLOW_CLIENT])}) }`,
);

/** The condition that a field has one of the values. */
function anyOf(field: string, values: readonly string[]): string {
  return values.map((value) => `($.${field} = "${value}")`).join(' || ');
}

/** Alarms and dashboard, if the stage has them, and the saved queries. */
export class Monitoring extends Construct {
  /** The alarms that roll a release back. */
  readonly rollback: readonly Alarm[];

  constructor(scope: Construct, id: string, monitored: Monitored, settings: StageSettings) {
    super(scope, id);
    const alarms = settings.alarms ? new Alarms(this, 'Alarms', monitored, settings.alarmTargets) : undefined;
    this.rollback = alarms?.rollback ?? [];
    if (alarms) this.#countInLogs(monitored);
    if (settings.dashboard) new ServiceDashboard(this, 'Dashboard', monitored, alarms?.all ?? []);
    new SavedQueries(this, 'Queries', monitored);
  }

  /** Without such lines there is no metric, and no cost. */
  #countInLogs({ api, functions }: Monitored): void {
    this.#count('GatewayRefusals', 'GatewayRefusals', api.accessLogs, refusedAfterAll);
    // All functions count as one metric: an alarm has max ten.
    for (const { node, logs } of functions.streaming) {
      this.#count(node.id, 'BrokenLists', logs, failedCall);
      this.#count(`${node.id}Excused`, 'ExcusedLists', logs, excusedList);
    }
    for (const { node, logs } of functions.all)
      this.#count(`${node.id}Throttled`, 'ThrottledRequests', logs, throttledRequest);
  }

  #count(id: string, metric: LogMetric, logGroup: LogGroup, filterPattern: IFilterPattern): void {
    const metricName = logMetricName(Stack.of(this).stackName, metric);
    const counted = { metricNamespace: METRICS_NAMESPACE, metricName, metricValue: '1' };
    new MetricFilter(this, id, { logGroup, filterPattern, ...counted });
  }
}
