import { Stack } from 'aws-cdk-lib';
import type { Alarm } from 'aws-cdk-lib/aws-cloudwatch';
import { FilterPattern, MetricFilter } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { operations } from '../../../shared/contract/operations.ts';
import { ADMITTED } from '../../../shared/http/authorizer-context.ts';
import { METRICS_NAMESPACE } from '../../../shared/request-log.ts';
import type { StageSettings } from '../../stages.ts';
import { Alarms } from './alarms.ts';
import { ServiceDashboard } from './dashboard.ts';
import { gatewayRefusalsOf, type Monitored } from './metrics.ts';
import { SavedQueries } from './queries.ts';

export interface MonitoringProps extends Monitored {
  readonly settings: Pick<StageSettings, 'alarms' | 'alarmTargets' | 'dashboard'>;
}

/**
 * What API Gateway answers by its usage plans and throttles, which must never refuse what the limiter has admitted, but for
 * bulks beyond their share.
 */
const REFUSALS = ['INVALID_API_KEY', 'THROTTLED', 'QUOTA_EXCEEDED'];

const { method, path } = operations.updateInventories;

/** Over the fields of the access log (see inventory-api.ts). */
const refusedAfterAll = FilterPattern.all(
  FilterPattern.stringValue('$.outcome', '=', ADMITTED),
  FilterPattern.any(...REFUSALS.map((type) => FilterPattern.stringValue('$.gatewayError', '=', type))),
  FilterPattern.any(
    FilterPattern.stringValue('$.method', '!=', method),
    FilterPattern.stringValue('$.resource', '!=', path),
  ),
);

/** Alarms and dashboard, where the stage has them, and the saved queries. */
export class Monitoring extends Construct {
  /** The alarms that take a release back. */
  readonly rollback: readonly Alarm[];

  constructor(scope: Construct, id: string, { settings, ...monitored }: MonitoringProps) {
    super(scope, id);
    const { alarmTargets } = settings;
    const alarms = settings.alarms ? new Alarms(this, 'Alarms', { ...monitored, alarmTargets }) : undefined;
    this.rollback = alarms?.rollback ?? [];
    if (alarms) this.#countGatewayRefusals(monitored);
    if (settings.dashboard) new ServiceDashboard(this, 'Dashboard', { ...monitored, alarms: alarms?.all ?? [] });
    new SavedQueries(this, 'Queries', monitored);
  }

  /** There is no metric, and nothing to pay, as long as there is no such refusal. */
  #countGatewayRefusals({ api }: Monitored): void {
    new MetricFilter(this, 'GatewayRefusals', {
      logGroup: api.accessLogs,
      filterPattern: refusedAfterAll,
      metricNamespace: METRICS_NAMESPACE,
      metricName: gatewayRefusalsOf(Stack.of(this).stackName),
      metricValue: '1',
    });
  }
}
