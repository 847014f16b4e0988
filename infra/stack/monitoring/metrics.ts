import { Aws, type Duration, Stack } from 'aws-cdk-lib';
import { MathExpression, Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import type { LogGroup } from 'aws-cdk-lib/aws-logs';
import { operations } from '../../../shared/contract/operations.ts';
import type { OperationId } from '../../../shared/contract/routes.ts';
import { METRICS_NAMESPACE } from '../../../shared/request-log.ts';
import type { TableName } from '../../stages.ts';
import type { Firewall } from '../firewall.ts';
import type { InventoryApi } from '../inventory-api.ts';
import type { KeySync } from '../key-sync.ts';
import type { OperationFunctions } from '../operation-functions.ts';
import type { ServiceFunction } from '../service-function.ts';
import type { StockEvents } from '../stock-events.ts';
import type { Tables } from '../tables.ts';

/** What alarms, dashboard and saved queries look at in one deployment. */
export interface Monitored {
  readonly api: InventoryApi;
  readonly functions: OperationFunctions;
  readonly keySync: KeySync;
  readonly stockEvents: StockEvents | undefined;
  readonly tables: Tables;
  /** Where the deployment has one. */
  readonly firewall: Firewall | undefined;
}

/** Log groups by what is in them: requests and errors, the syncs of keys, the access log of the gateway. */
export type LogKind = 'requests' | 'sync' | 'access';
type LogGroups = Record<LogKind, readonly LogGroup[]>;

export const logGroupsOf = ({ api, functions, keySync, stockEvents }: Monitored): LogGroups => ({
  requests: functions.all.concat(stockEvents?.publisher ?? []).map(({ logs }) => logs),
  sync: [keySync.sync.logs],
  access: [api.accessLogs],
});

/** What log filters count (see monitoring.ts). */
export type LogMetric = 'GatewayRefusals' | 'BrokenLists';

/** A metric of a log filter has no dimensions but those of its fields: the stack is in its name. */
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
   * Of the gateway: all requests, or those of one operation. The dimension is the API's name, not its id: an
   * alarm then does not depend on the API, which depends on the releases, which depend on the alarms.
   */
  gateway(metricName: string, statistic: string = Stats.SUM, operation?: OperationId): Metric {
    const { name, stageName } = this.monitored.api;
    const dimensions = { ApiName: name, Stage: stageName };
    if (operation === undefined) return this.#metric('AWS/ApiGateway', metricName, statistic, dimensions);
    const { method, path } = operations[operation];
    return this.#metric('AWS/ApiGateway', metricName, statistic, { ...dimensions, Method: method, Resource: path });
  }

  /** Of a function as it is called: by its alias, whose metrics are those of all versions behind it. */
  function({ live }: ServiceFunction, metricName: string, statistic: string = Stats.SUM): Metric {
    return live.metric(metricName, { statistic, period: this.#period });
  }

  /** Of the lines that the functions write for each request; all, or those with one value of a field. */
  requests(metricName: 'Requests' | 'Refusals', field: Readonly<Record<string, string>> = {}): Metric {
    return this.#metric(METRICS_NAMESPACE, metricName, Stats.SUM, { stack: this.#stackName, ...field });
  }

  /** Of the line that the sync of keys writes each time. */
  sync(metricName: string, statistic: string): Metric {
    return this.#metric(METRICS_NAMESPACE, metricName, statistic, { service: 'sync-keys', stack: this.#stackName });
  }

  /** Of all functions in the account. */
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

  /** What the firewall blocks; undefined where there is none. */
  blocked(): Metric | undefined {
    const { firewall } = this.monitored;
    if (!firewall) return undefined;
    const dimensions = { WebACL: firewall.metricName, Rule: 'ALL', Region: Aws.REGION };
    return this.#metric('AWS/WAFV2', 'BlockedRequests', Stats.SUM, dimensions);
  }

  /** A formula over metrics that it names by their ids: these begin with a small letter. */
  formula(expression: string, usingMetrics: Record<string, AnyMetric>, label?: string): MathExpression {
    const options = label === undefined ? {} : { label };
    return new MathExpression({ expression, usingMetrics, period: this.#period, ...options });
  }

  /** The sum of metrics, of which some may have no data. */
  sum(idPrefix: string, metrics: readonly AnyMetric[], label?: string): MathExpression {
    const named = Object.fromEntries(metrics.map((metric, index) => [`${idPrefix}${index + 1}`, metric]));
    return this.formula(`SUM([${Object.keys(named).join(', ')}])`, named, label);
  }

  #metric(namespace: string, metricName: string, statistic: string, dimensionsMap: Record<string, string>): Metric {
    return new Metric({ namespace, metricName, dimensionsMap, statistic, period: this.#period });
  }
}
