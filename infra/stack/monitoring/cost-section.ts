import { type IWidget, type MathExpression, SingleValueWidget } from 'aws-cdk-lib/aws-cloudwatch';
import { priceRegion, prices, pricesTakenOn } from '../../costs/prices.ts';
import { tableNames } from '../../stages.ts';
import { queries } from './queries.ts';
import type { MonitoredLogs, MonitoringMetrics } from './metrics.ts';
import { axis, graph, heading, queryTable } from './widgets.ts';

export interface CostSectionProps {
  readonly metrics: MonitoringMetrics;
  readonly logs: MonitoredLogs;
  readonly memoryMegabytes: number;
}

const HOURS_A_MONTH = 720;

type Capacity = 'ConsumedReadCapacityUnits' | 'ConsumedWriteCapacityUnits';

const stack = (title: string, left: MathExpression[], unit: string, size: { readonly width?: number } = {}): IWidget =>
  graph({ title, stacked: true, left, leftYAxis: axis(unit), ...size });

/** What does it cost? */
export function costSection({ metrics, logs, memoryMegabytes }: CostSectionProps): IWidget[][] {
  const costs = hourlyCosts(metrics, logs, memoryMegabytes);
  const unitsOf = (capacity: Capacity): MathExpression[] => tableNames.map((name) => units(metrics, name, capacity));
  return [
    [
      heading(
        'What does it cost?',
        `By the list prices of ${pricesTakenOn} in ${priceRegion}. Not in it: stored data, traffic out, the firewall, traces, alarms and metrics (docs/operating/costs.md).`,
      ),
    ],
    [
      total(metrics, costs),
      stack('USD an hour', costs, 'USD an hour', { width: 12 }),
      stack('Lambda', gigabyteSeconds(metrics, memoryMegabytes), 'GB-seconds'),
    ],
    [
      stack('DynamoDB writes', unitsOf('ConsumedWriteCapacityUnits'), 'write units'),
      stack('DynamoDB reads', unitsOf('ConsumedReadCapacityUnits'), 'read units'),
      stack('Logs written', [logBytes(metrics, logs)], 'bytes'),
    ],
    [queryTable(queries.traffic.name, queries.traffic, logs.requests)],
  ];
}

/** The mean of the time shown: nothing was spent where there is no data. */
function total(metrics: MonitoringMetrics, costs: readonly MathExpression[]): IWidget {
  // CloudWatch shows series, so that the mean is one.
  const mean = metrics.formula(
    'AVG(FILL(total, 0)) + 0 * total',
    { total: metrics.sum('part', costs) },
    'USD an hour, on average',
  );
  const monthly = metrics.formula(`hourly * ${HOURS_A_MONTH}`, { hourly: mean }, 'USD in 30 days at that rate');
  return new SingleValueWidget({ title: 'In the time shown', metrics: [mean, monthly], width: 4, height: 6 });
}

/** USD an hour by service, whatever period the graph has. */
function hourlyCosts(metrics: MonitoringMetrics, logs: MonitoredLogs, memoryMegabytes: number): MathExpression[] {
  const requests = metrics.gateway('Count');
  const cost = (
    id: string,
    label: string,
    usd: number,
    used: Parameters<MonitoringMetrics['sum']>[1],
  ): MathExpression =>
    metrics.formula(
      `${id} * ${decimal(usd * 3_600)} / PERIOD(requests)`,
      { [id]: metrics.sum(`${id}Of`, used), requests },
      label,
    );
  const calls = metrics.requestFunctions.map(([, target]) => metrics.function(target, 'Invocations'));
  const unitsOf = (capacity: Capacity): MathExpression[] => tableNames.map((name) => units(metrics, name, capacity));
  const { apiGateway, lambda, dynamodb, logs: logPrices } = prices;
  return [
    metrics.formula(
      `requests * ${decimal((apiGateway.perMillionRequests / 1e6) * 3_600)} / PERIOD(requests)`,
      { requests },
      'API Gateway',
    ),
    cost('calls', 'Lambda calls', lambda.perMillionRequests / 1e6, calls),
    cost('memory', 'Lambda time', lambda.perGbSecondArm, gigabyteSeconds(metrics, memoryMegabytes)),
    cost('writes', 'DynamoDB writes', dynamodb.perMillionWriteUnits / 1e6, unitsOf('ConsumedWriteCapacityUnits')),
    cost('reads', 'DynamoDB reads', dynamodb.perMillionReadUnits / 1e6, unitsOf('ConsumedReadCapacityUnits')),
    cost('logs', 'Logs', logPrices.perGbIngested / 1e9, [logBytes(metrics, logs)]),
  ];
}

function gigabyteSeconds(metrics: MonitoringMetrics, memoryMegabytes: number): MathExpression[] {
  return metrics.requestFunctions.map(([name, target]) =>
    metrics.formula(
      `${name}Milliseconds * ${decimal(memoryMegabytes / 1_024 / 1_000)}`,
      { [`${name}Milliseconds`]: metrics.function(target, 'Duration') },
      name,
    ),
  );
}

function units(metrics: MonitoringMetrics, name: (typeof tableNames)[number], capacity: Capacity): MathExpression {
  const id = `${name}${capacity === 'ConsumedReadCapacityUnits' ? 'Reads' : 'Writes'}`;
  return metrics.sum(id, [metrics.table(name, capacity)], name);
}

function logBytes(metrics: MonitoringMetrics, { requests, sync, access }: MonitoredLogs): MathExpression {
  const groups = [...requests, sync, access].map((group) => metrics.logGroup(group, 'IncomingBytes'));
  return metrics.sum('bytes', groups, 'Bytes');
}

/** A number as CloudWatch reads it: it knows no exponents. */
const decimal = (value: number): string => value.toFixed(15).replace(/\.?0+$/, '');
