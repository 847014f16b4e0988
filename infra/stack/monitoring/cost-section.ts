import { type IWidget, type MathExpression, SingleValueWidget } from 'aws-cdk-lib/aws-cloudwatch';
import { FUNCTION_MEMORY_MEGABYTES, priceRegion, prices, pricesTakenOn } from '../../costs/prices.ts';
import { tableNames } from '../../stages.ts';
import { logGroupsOf, type MonitoringMetrics } from './metrics.ts';
import { queries } from './queries.ts';
import { graph, heading, queryTable } from './widgets.ts';

const HOURS_A_MONTH = 720;

const stack = (title: string, unit: string, left: MathExpression[], width = 8): IWidget =>
  graph(title, unit, left, { stacked: true, width });

/** What does it cost? */
export function costSection(metrics: MonitoringMetrics): IWidget[][] {
  const used = usageOf(metrics);
  const costs = hourlyCosts(metrics, used);
  return [
    [
      heading(
        'What does it cost?',
        `By the list prices of ${pricesTakenOn} in ${priceRegion}. Not in it: stored data, traffic out, the firewall, traces, alarms and metrics (docs/operating/costs.md).`,
      ),
    ],
    [
      total(metrics, costs),
      stack('USD an hour', 'USD an hour', costs, 12),
      stack('Lambda', 'GB-seconds', used.gigabyteSeconds),
    ],
    [
      stack('DynamoDB writes', 'write units', used.writeUnits),
      stack('DynamoDB reads', 'read units', used.readUnits),
      stack('Logs written', 'bytes', used.logBytes),
    ],
    [queryTable(queries.traffic.name, queries.traffic, logGroupsOf(metrics.monitored).requests)],
  ];
}

/** What is paid for as it is used. */
function usageOf(metrics: MonitoringMetrics) {
  const { functions } = metrics.monitored;
  const logGroups = Object.values(logGroupsOf(metrics.monitored)).flat();
  const units = (id: string, capacity: string): MathExpression[] =>
    tableNames.map((name) => metrics.sum(`${name}${id}`, [metrics.table(name, capacity)], name));
  return {
    gigabyteSeconds: Object.entries(functions.byName).map(([name, target]) =>
      metrics.formula(
        `${name}Milliseconds * ${decimal(FUNCTION_MEMORY_MEGABYTES / 1_024 / 1_000)}`,
        { [`${name}Milliseconds`]: metrics.function(target, 'Duration') },
        name,
      ),
    ),
    writeUnits: units('Writes', 'ConsumedWriteCapacityUnits'),
    readUnits: units('Reads', 'ConsumedReadCapacityUnits'),
    logBytes: [
      metrics.sum(
        'bytes',
        logGroups.map((group) => metrics.logGroup(group, 'IncomingBytes')),
        'Bytes',
      ),
    ],
  };
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
function hourlyCosts(metrics: MonitoringMetrics, used: ReturnType<typeof usageOf>): MathExpression[] {
  const requests = metrics.gateway('Count');
  const cost = (id: string, label: string, usd: number, of: Parameters<MonitoringMetrics['sum']>[1]) =>
    metrics.formula(hourly(id, usd), { [id]: metrics.sum(`${id}Of`, of), requests }, label);
  const calls = metrics.monitored.functions.all.map((target) => metrics.function(target, 'Invocations'));
  const { apiGateway, lambda, dynamodb, logs } = prices;
  return [
    metrics.formula(hourly('requests', apiGateway.perMillionRequests / 1e6), { requests }, 'API Gateway'),
    cost('calls', 'Lambda calls', lambda.perMillionRequests / 1e6, calls),
    cost('memory', 'Lambda time', lambda.perGbSecondArm, used.gigabyteSeconds),
    cost('writes', 'DynamoDB writes', dynamodb.perMillionWriteUnits / 1e6, used.writeUnits),
    cost('reads', 'DynamoDB reads', dynamodb.perMillionReadUnits / 1e6, used.readUnits),
    cost('logs', 'Logs', logs.perGbIngested / 1e9, used.logBytes),
  ];
}

/** An hour's price of what a metric counts, whatever its period. */
const hourly = (id: string, usd: number): string => `${id} * ${decimal(usd * 3_600)} / PERIOD(requests)`;

/** A number as CloudWatch reads it: it knows no exponents. */
const decimal = (value: number): string => value.toFixed(15).replace(/\.?0+$/, '');
