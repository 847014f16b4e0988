import { App, Stack } from 'aws-cdk-lib';
import { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { OperationId } from '../../shared/contract/operations.ts';
import { Alarms } from '../../infra/stack/monitoring/alarms.ts';
import { SavedQueries } from '../../infra/stack/monitoring/saved-queries.ts';
import { ServiceDashboard } from '../../infra/stack/monitoring/dashboard.ts';
import type { Monitored, MonitoredFunction, MonitoredLogs } from '../../infra/stack/monitoring/monitored.ts';
import type { AlarmTargets, TableName } from '../../infra/stages.ts';

/** What a deployment named `Test` would have. */
export function monitoredDeployment(stack: Stack, firewall?: Monitored['firewall']): Monitored {
  const target = (name: string): MonitoredFunction => LambdaFunction.fromFunctionName(stack, name, `${name}-function`);
  const operations = {
    listInventory: target('list-inventory'),
    updateInventory: target('update-inventory'),
    getPet: target('get-pet'),
    listOrders: target('list-orders'),
  } satisfies Record<OperationId, MonitoredFunction>;
  const tables = {
    stock: { tableName: 'stock-table' },
    keys: { tableName: 'keys-table' },
    pets: { tableName: 'pets-table' },
    orders: { tableName: 'orders-table' },
    requests: { tableName: 'requests-table' },
  } satisfies Record<TableName, { tableName: string }>;
  return {
    apiName: 'Test API',
    apiStage: 'v1',
    functions: { authorizer: target('authorizer'), operations, fallback: target('fallback') },
    sync: target('sync-keys'),
    failedSyncs: { queueName: 'failed-syncs' },
    tables,
    stackName: stack.stackName,
    firewall,
  };
}

const logs: MonitoredLogs = {
  requests: [{ logGroupName: 'authorizer-logs' }, { logGroupName: 'operation-logs' }],
  sync: { logGroupName: 'sync-logs' },
  access: { logGroupName: 'access-logs' },
};

export interface MonitoredStack {
  readonly app: App;
  readonly stack: Stack;
  readonly alarms: Alarms;
}

/** A stack of nothing but what watches a deployment. */
export function monitoredStack(
  targets: AlarmTargets = { emails: [], topicArns: [] },
  firewall?: Monitored['firewall'],
): MonitoredStack {
  const app = new App({ analyticsReporting: false });
  const stack = new Stack(app, 'Test');
  const monitored = monitoredDeployment(stack, firewall);
  const alarms = new Alarms(stack, 'Alarms', { ...monitored, targets });
  new ServiceDashboard(stack, 'Dashboard', { ...monitored, alarms: alarms.all, logs, memoryMegabytes: 1_024 });
  new SavedQueries(stack, 'Queries', { logs, stackName: monitored.stackName });
  return { app, stack, alarms };
}
