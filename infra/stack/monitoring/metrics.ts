import { Aws, type Duration, Stack } from 'aws-cdk-lib';
import { MathExpression, Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import type { LogGroup } from 'aws-cdk-lib/aws-logs';
import { operations } from '../../../shared/contract/operations.ts';
import type { OperationId } from '../../../shared/contract/routes.ts';
import { METRICS_NAMESPACE, type RequestMetric, type UNRECORDED } from '../../../shared/log.ts';
import type { StageSettings } from '../../stages.ts';
import type { TableName } from '../../tables.ts';
import { VERSION_SEGMENT } from '../domains.ts';
import type { Firewall } from '../firewall.ts';
import type { InventoryApi } from '../inventory-api.ts';
import type { KeySync } from '../key-sync.ts';
import type { OperationFunctions } from '../operation-functions.ts';
import type { ServiceFunction } from '../service-function.ts';
import type { StockEvents } from '../stock-events.ts';
import type { Tables } from '../tables.ts';

/** The resources that alarms, dashboard and saved queries of a deployment monitor. */
export interface Monitored {
  readonly api: InventoryApi;
  readonly functions: OperationFunctions;
  readonly keySync: KeySync;
  readonly stockEvents: StockEvents | undefined;
  readonly tables: Tables;
  /** If the deployment has one. */
  readonly firewall: Firewall | undefined;
  readonly backup: StageSettings['backup'];
}

/** Log groups by content: requests and errors, the syncs of keys, the access log of the gateway. */
export type LogKind = 'requests' | 'sync' | 'access';
type LogGroups = Record<LogKind, readonly LogGroup[]>;

export const logGroupsOf = ({ api, functions, keySync, stockEvents }: Monitored): LogGroups => ({
  requests: functions.all.concat(stockEvents?.publisher ?? []).map(({ logs }) => logs),
  sync: [keySync.sync.logs],
  access: [api.accessLogs],
});

/** Metrics of the log filters (see monitoring.ts). */
export type LogMetric = 'GatewayRefusals' | 'BrokenLists';

/** A log filter's metric has only dimensions of its fields, so its name contains the stack. */
export const logMetricName = (stackName: string, name: LogMetric): string => `${stackName}-${name}`;

type AnyMetric = Metric | MathExpression;

/** The metrics of one deployment, each named and with its dimensions, for one period. */
export class MonitoringMetrics {
  readonly monitored: Monitored;
  readonly #period: Duration;
  readonly #stackName: string;

  constructor(monitored: Monitored, period: Duration) {
    this.monitored = monitored;
    this.#period = period;
    this.#stackName = Stack.of(monitored.api).stackName;
  }

  /**
   * Metrics of the gateway: all requests, or those of one operation. The dimension is the API's name, not its id: an
   * alarm then does not depend on the API, which depends on the releases, which depend on the alarms.
   */
  gateway(metricName: string, statistic: string = Stats.SUM, operation?: OperationId): Metric {
    const dimensions = { ApiName: this.monitored.api.name, Stage: VERSION_SEGMENT };
    if (operation === undefined) return this.#metric('AWS/ApiGateway', metricName, statistic, dimensions);
    const { method, path } = operations[operation];
    return this.#metric('AWS/ApiGateway', metricName, statistic, { ...dimensions, Method: method, Resource: path });
  }

  /** Metrics of a function's alias: the sum of all versions behind it. */
  function({ live }: ServiceFunction, metricName: string, statistic: string = Stats.SUM): Metric {
    return live.metric(metricName, { statistic, period: this.#period });
  }

  /** Metrics of the functions' logs: all, or those with one value of a field. */
  requests(metricName: RequestMetric | typeof UNRECORDED, field: Readonly<Record<string, string>> = {}): Metric {
    return this.#metric(METRICS_NAMESPACE, metricName, Stats.SUM, { stack: this.#stackName, ...field });
  }

  /** Metrics of the log line of each sync of keys. */
  sync(metricName: string, statistic: string): Metric {
    return this.#metric(METRICS_NAMESPACE, metricName, statistic, { service: 'sync-keys', stack: this.#stackName });
  }

  /** Metrics of all functions in the account. */
  accountFunctions(metricName: string): Metric {
    return this.#metric('AWS/Lambda', metricName, Stats.SUM, {});
  }

  fromLogs(name: LogMetric): Metric {
    return this.#metric(METRICS_NAMESPACE, logMetricName(this.#stackName, name), Stats.SUM, {});
  }

  table(name: TableName, metricName: string): Metric {
    const dimensions = { TableName: this.monitored.tables.nameOf(name) };
    return this.#metric('AWS/DynamoDB', metricName, Stats.SUM, dimensions);
  }

  /** Requests that the firewall blocks; undefined without a firewall. */
  blocked(): Metric | undefined {
    const { firewall } = this.monitored;
    if (!firewall) return undefined;
    const dimensions = { WebACL: firewall.metricName, Rule: 'ALL', Region: Aws.REGION };
    return this.#metric('AWS/WAFV2', 'BlockedRequests', Stats.SUM, dimensions);
  }

  /** Failed jobs of the nightly backup; undefined without it. */
  failedBackups(): MathExpression | undefined {
    const { backup } = this.monitored;
    if (!backup) return undefined;
    const jobs = ['BackupJobsFailed', 'BackupJobsExpired', 'CopyJobsFailed'].map((name) =>
      this.#metric('AWS/Backup', `NumberOf${name}`, Stats.SUM, { BackupVaultName: backup.vault }),
    );
    return this.sum('jobs', jobs);
  }

  /** A formula over metrics by their ids, which begin with a lower-case letter. */
  formula(expression: string, usingMetrics: Record<string, AnyMetric>): MathExpression {
    return new MathExpression({ expression, usingMetrics, period: this.#period });
  }

  /** The sum of metrics; missing data is 0. */
  sum(idPrefix: string, metrics: readonly AnyMetric[]): MathExpression {
    const named = Object.fromEntries(metrics.map((metric, index) => [`${idPrefix}${index + 1}`, metric]));
    return this.formula(`SUM([${Object.keys(named).join(', ')}])`, named);
  }

  /** A metric without what others count of it. SUM ignores a metric without data; arithmetic and FILL may not. */
  difference(all: AnyMetric, ...excused: readonly AnyMetric[]): MathExpression {
    const named = Object.fromEntries(excused.map((metric, index) => [`excused${index + 1}`, metric]));
    const negative = Object.keys(named).map((id) => `, -${id}`);
    return this.formula(`SUM([all${negative.join('')}])`, { all, ...named });
  }

  #metric(namespace: string, metricName: string, statistic: string, dimensionsMap: Record<string, string>): Metric {
    return new Metric({ namespace, metricName, dimensionsMap, statistic, period: this.#period });
  }
}
