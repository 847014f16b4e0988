import { App, Stack } from 'aws-cdk-lib';
import { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { OperationId } from '../../shared/contract/operations.ts';
import { Alarms } from '../../infra/stack/watching/alarms.ts';
import { SavedQueries } from '../../infra/stack/watching/saved-queries.ts';
import { ServiceDashboard } from '../../infra/stack/watching/service-dashboard.ts';
import type { Watched, WatchedFunction, WatchedLogs } from '../../infra/stack/watching/watched.ts';
import type { AlarmTargets, TableName } from '../../infra/stages.ts';

/** What a deployment named `Test` would have. */
export function watchedDeployment(stack: Stack, firewall?: Watched['firewall']): Watched {
  const target = (name: string): WatchedFunction => LambdaFunction.fromFunctionName(stack, name, `${name}-function`);
  const operations = {
    listInventory: target('list-inventory'),
    updateInventory: target('update-inventory'),
    getPet: target('get-pet'),
    listOrders: target('list-orders'),
  } satisfies Record<OperationId, WatchedFunction>;
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

const logs: WatchedLogs = {
  requests: [{ logGroupName: 'authorizer-logs' }, { logGroupName: 'operation-logs' }],
  sync: { logGroupName: 'sync-logs' },
  access: { logGroupName: 'access-logs' },
};

export interface WatchedStack {
  readonly app: App;
  readonly stack: Stack;
  readonly alarms: Alarms;
}

/** A stack of nothing but what watches a deployment. */
export function watchedStack(
  targets: AlarmTargets = { emails: [], topicArns: [] },
  firewall?: Watched['firewall'],
): WatchedStack {
  const app = new App({ analyticsReporting: false });
  const stack = new Stack(app, 'Test');
  const watched = watchedDeployment(stack, firewall);
  const alarms = new Alarms(stack, 'Alarms', { ...watched, targets });
  new ServiceDashboard(stack, 'Dashboard', { ...watched, alarms: alarms.all, logs, memoryMegabytes: 1_024 });
  new SavedQueries(stack, 'Queries', { logs, stackName: watched.stackName });
  return { app, stack, alarms };
}
