import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import type { OperationId } from '../../../shared/contract/operations.ts';
import type { TableName } from '../../stages.ts';

/** A function as it is called: by its alias, whose metrics are those of all versions behind it. */
export type MonitoredFunction = Pick<IFunction, 'metric'>;

export type MonitoredLogGroup = Pick<ILogGroup, 'logGroupName'>;

/**
 * What alarms and dashboard look at in one deployment. The API is told by its name and not by the construct, so that
 * releases may wait for the alarms, and the API for the releases.
 */
export interface Monitored {
  readonly apiName: string;
  readonly apiStage: string;
  readonly functions: {
    readonly authorizer: MonitoredFunction;
    readonly operations: Readonly<Record<OperationId, MonitoredFunction>>;
    readonly fallback: MonitoredFunction;
  };
  readonly sync: MonitoredFunction;
  /** Where the calls of the sync go that failed again and again. */
  readonly failedSyncs: { readonly queueName: string };
  readonly tables: Readonly<Record<TableName, { readonly tableName: string }>>;
  readonly stackName: string;
  /** Where the deployment has one: the metric name of its web ACL. */
  readonly firewall?: { readonly metricName: string } | undefined;
}

/** Log groups of one deployment. */
export interface MonitoredLogs {
  /** Of the authorizer, the operations and the fallback: a line for each request is in one of them. */
  readonly requests: readonly MonitoredLogGroup[];
  readonly sync: MonitoredLogGroup;
  /** The access log of the gateway. */
  readonly access: MonitoredLogGroup;
}
