import { Stack } from 'aws-cdk-lib';
import type { Alarm } from 'aws-cdk-lib/aws-cloudwatch';
import { FilterPattern, type IFilterPattern, type LogGroup, MetricFilter } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { operations } from '../../../shared/contract/operations.ts';
import { ADMITTED } from '../../../shared/http/request.ts';
import { METRICS_NAMESPACE } from '../../../shared/log.ts';
import type { StageSettings } from '../../stages.ts';
import { inSequence, resourcesOf } from '../construct-tree.ts';
import { Alarms } from './alarms.ts';
import { ServiceDashboard } from './dashboard.ts';
import { type LogMetric, logMetricName, type Monitored } from './metrics.ts';
import { SavedQueries } from './queries.ts';

/** API Gateway must never refuse what the limiter has admitted, except for batch updates beyond their throttle. */
const refusals = ['INVALID_API_KEY', 'THROTTLED', 'QUOTA_EXCEEDED'].map((error) => `($.gatewayError = "${error}")`);

const { method, path } = operations.updateInventories;

/** A filter on the fields of the access log (see inventory-api.ts). */
const refusedAfterAll = FilterPattern.literal(
  `{ ($.outcome = "${ADMITTED}") && (${refusals.join(' || ')}) && (($.method != "${method}") || ($.resource != "${path}")) }`,
);

/** Lambda's log line about a failed invocation, one for each (Telemetry API, `platform.report`). */
const failedCall = FilterPattern.literal('{ ($.type = "platform.report") && ($.record.status != "success") }');

/** Alarms and dashboard, if the stage has them, and the saved queries. */
export class Monitoring extends Construct {
  /** The alarms that roll a release back. */
  readonly rollback: readonly Alarm[];

  constructor(scope: Construct, id: string, monitored: Monitored, settings: StageSettings) {
    super(scope, id);
    const alarms = settings.alarms ? new Alarms(this, 'Alarms', monitored, settings.alarmTargets) : undefined;
    this.rollback = alarms?.rollback ?? [];
    if (alarms) {
      // Without such lines there is no metric, and no cost.
      this.#count('GatewayRefusals', 'GatewayRefusals', monitored.api.accessLogs, refusedAfterAll);
      // All functions count as one metric: an alarm has max ten.
      for (const { node, logs } of monitored.functions.streaming) this.#count(node.id, 'BrokenLists', logs, failedCall);
    }
    if (settings.dashboard) new ServiceDashboard(this, 'Dashboard', monitored, alarms?.all ?? []);
    new SavedQueries(this, 'Queries', monitored);
    for (const type of ['MetricFilter', 'QueryDefinition']) inSequence(resourcesOf(this, `AWS::Logs::${type}`));
  }

  #count(id: string, metric: LogMetric, logGroup: LogGroup, filterPattern: IFilterPattern): void {
    const metricName = logMetricName(Stack.of(this).stackName, metric);
    const counted = { metricNamespace: METRICS_NAMESPACE, metricName, metricValue: '1' };
    new MetricFilter(this, id, { logGroup, filterPattern, ...counted });
  }
}
