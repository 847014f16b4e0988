import { Stack } from 'aws-cdk-lib';
import type { Alarm } from 'aws-cdk-lib/aws-cloudwatch';
import { Construct } from 'constructs';
import type { StageSettings } from '../../stages.ts';
import type { InventoryApi } from '../inventory-api.ts';
import type { KeySync } from '../key-sync.ts';
import type { OperationFunctions } from '../operation-functions.ts';
import { FUNCTION_MEMORY_MEGABYTES } from '../service-function.ts';
import type { Tables } from '../tables.ts';
import { Alarms } from './alarms.ts';
import { SavedQueries } from './queries.ts';
import { ServiceDashboard } from './dashboard.ts';
import { countGatewayRefusals } from './gateway-refusals.ts';
import type { Monitored } from './metrics.ts';

export interface MonitoringProps extends Pick<StageSettings, 'alarms' | 'alarmTargets' | 'dashboard'> {
  readonly api: InventoryApi;
  readonly functions: OperationFunctions;
  readonly keySync: KeySync;
  readonly tables: Tables;
  readonly firewall: { readonly metricName: string } | undefined;
}

/** All that tells how a deployment is: its alarms and its dashboard where it has them, and the questions to its logs. */
export class Monitoring extends Construct {
  /** The alarms that take a release back. */
  readonly rollback: readonly Alarm[];

  constructor(scope: Construct, id: string, props: MonitoringProps) {
    super(scope, id);
    const { api, functions, keySync, tables, firewall, alarmTargets, dashboard } = props;
    const { stackName } = Stack.of(this);
    const { getPet, listInventory, listOrders, updateInventory } = functions.operations;
    const monitored: Monitored = {
      apiName: api.name,
      apiStage: api.stageName,
      functions: {
        authorizer: functions.authorizer.live,
        operations: {
          listInventory: listInventory.live,
          updateInventory: updateInventory.live,
          getPet: getPet.live,
          listOrders: listOrders.live,
        },
        fallback: functions.fallback.live,
      },
      sync: keySync.sync.live,
      failedSyncs: keySync.failed,
      tables,
      stackName,
      firewall,
    };
    const logs = {
      requests: functions.all.map((one) => one.logs),
      sync: keySync.sync.logs,
      access: api.accessLogs,
    };
    const alarms = props.alarms ? new Alarms(this, 'Alarms', { ...monitored, targets: alarmTargets }) : undefined;
    this.rollback = alarms?.rollback ?? [];
    if (alarms) countGatewayRefusals(this, api.accessLogs);
    if (dashboard) {
      const memoryMegabytes = FUNCTION_MEMORY_MEGABYTES;
      new ServiceDashboard(this, 'Dashboard', { ...monitored, alarms: alarms?.all ?? [], logs, memoryMegabytes });
    }
    new SavedQueries(this, 'Queries', { logs, stackName });
  }
}
