import { Aws, type Duration } from 'aws-cdk-lib';
import { MathExpression, Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import type { ErrorCode } from '../../../shared/contract/errors.ts';
import { type OperationId, operations } from '../../../shared/contract/operations.ts';
import { METRICS_NAMESPACE } from '../../../shared/request-log.ts';
import type { TableName } from '../../stages.ts';
import { gatewayRefusals } from './gateway-refusals.ts';

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

/** Dimensions beside the stack that the line of a request has its metrics by. */
export type RequestDimension =
  | { readonly operation: string }
  | { readonly plan: string }
  | { readonly status: string }
  | { readonly reason: ErrorCode };

/** The metrics of one deployment, each named and with its dimensions, for one period. */
export class MonitoringMetrics {
  readonly monitored: Monitored;
  readonly period: Duration;

  constructor(monitored: Monitored, period: Duration) {
    this.monitored = monitored;
    this.period = period;
  }

  /** Of the gateway: all requests, or those of one operation. */
  gateway(metricName: string, statistic: string = Stats.SUM, operation?: OperationId): Metric {
    const { apiName, apiStage } = this.monitored;
    const dimensions = { ApiName: apiName, Stage: apiStage };
    if (operation === undefined) return this.#metric('AWS/ApiGateway', metricName, statistic, dimensions);
    const { method, path } = operations[operation];
    return this.#metric('AWS/ApiGateway', metricName, statistic, { ...dimensions, Method: method, Resource: path });
  }

  function(target: MonitoredFunction, metricName: string, statistic: string = Stats.SUM): Metric {
    return target.metric(metricName, { statistic, period: this.period });
  }

  /** Of the lines that the functions write for each request. */
  requests(metricName: 'Requests' | 'Refusals' | 'ColdStarts', dimension?: RequestDimension): Metric {
    const dimensions = { stack: this.monitored.stackName, ...dimension };
    return this.#metric(METRICS_NAMESPACE, metricName, Stats.SUM, dimensions);
  }

  /** Of the line that the sync of keys writes each time. */
  sync(metricName: string, statistic: string): Metric {
    const dimensions = { service: 'sync-keys', stack: this.monitored.stackName };
    return this.#metric(METRICS_NAMESPACE, metricName, statistic, dimensions);
  }

  /** Of all functions in the account. */
  accountFunctions(metricName: string): Metric {
    return this.#metric('AWS/Lambda', metricName, Stats.SUM, {});
  }

  /** Of the lines of the access log (see gateway-refusals.ts). */
  gatewayRefusals(): Metric {
    return this.#metric(METRICS_NAMESPACE, gatewayRefusals(this.monitored.stackName), Stats.SUM, {});
  }

  /** Calls of the sync that wait for an admin. */
  failedSyncs(): Metric {
    const dimensions = { QueueName: this.monitored.failedSyncs.queueName };
    return this.#metric('AWS/SQS', 'ApproximateNumberOfMessagesVisible', Stats.MAXIMUM, dimensions);
  }

  table(name: TableName, metricName: string): Metric {
    const dimensions = { TableName: this.monitored.tables[name].tableName };
    return this.#metric('AWS/DynamoDB', metricName, Stats.SUM, dimensions);
  }

  logGroup({ logGroupName }: { readonly logGroupName: string }, metricName: string): Metric {
    return this.#metric('AWS/Logs', metricName, Stats.SUM, { LogGroupName: logGroupName });
  }

  /** Of the firewall; undefined where there is none. */
  firewall(metricName: 'BlockedRequests'): Metric | undefined {
    const { firewall } = this.monitored;
    if (!firewall) return undefined;
    const dimensions = { WebACL: firewall.metricName, Rule: 'ALL', Region: Aws.REGION };
    return this.#metric('AWS/WAFV2', metricName, Stats.SUM, dimensions);
  }

  /** A formula over metrics that it names by their ids: these begin with a small letter. */
  formula(expression: string, usingMetrics: Readonly<Record<string, Metric | MathExpression>>, label?: string) {
    return new MathExpression({
      expression,
      usingMetrics: { ...usingMetrics },
      period: this.period,
      ...(label !== undefined && { label }),
    });
  }

  /** The sum of metrics, of which some may have no data. */
  sum(idPrefix: string, metrics: readonly (Metric | MathExpression)[], label?: string): MathExpression {
    const named = metrics.map((metric, index): [string, Metric | MathExpression] => [
      `${idPrefix}${index + 1}`,
      metric,
    ]);
    return this.formula(`SUM([${named.map(([id]) => id).join(', ')}])`, Object.fromEntries(named), label);
  }

  /** All functions that a request may run on, the authorizer first. */
  get requestFunctions(): readonly (readonly [name: string, target: MonitoredFunction])[] {
    const { authorizer, operations: ofOperations, fallback } = this.monitored.functions;
    return [['authorizer', authorizer], ...Object.entries(ofOperations), ['fallback', fallback]];
  }

  #metric(namespace: string, metricName: string, statistic: string, dimensionsMap: Record<string, string>): Metric {
    return new Metric({ namespace, metricName, dimensionsMap, statistic, period: this.period });
  }
}
