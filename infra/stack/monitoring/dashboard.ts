import { Aws, Duration, Stack } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { Construct } from 'constructs';
import { planIds, plans } from '../../../shared/keys/plans.ts';
import { tableNames } from '../../tables.ts';
import { timedOperation } from '../operation-functions.ts';
import { alarmCatalog, refusalReasons } from './alarm-table.ts';
import { logGroupsOf, type Monitored, MonitoringMetrics } from './metrics.ts';
import { queries } from './queries.ts';

/** Period of all graphs for up to some hours: CloudWatch uses longer periods for days. */
const PERIOD = Duration.minutes(1);

/** Columns of a dashboard. */
const FULL_WIDTH = 24;

/** One page for two questions: is the service healthy, and which keys reach their limits? */
export class ServiceDashboard extends Construct {
  constructor(scope: Construct, id: string, monitored: Monitored, alarms: readonly cloudwatch.Alarm[]) {
    super(scope, id);
    const list = new cloudwatch.AlarmStatusWidget({
      title: 'Alarms',
      alarms: [...alarms],
      width: FULL_WIDTH,
      height: 4,
    });
    const graphs = graphsOf(new MonitoringMetrics(monitored, PERIOD));
    new cloudwatch.Dashboard(this, 'Dashboard', {
      // Dashboard names are unique per account, not per region.
      dashboardName: `${Stack.of(this).stackName}-${Aws.REGION}`,
      defaultInterval: Duration.hours(3),
      widgets: [alarms.length > 0 ? [list] : [], [...graphs, mostRefused(monitored)]],
    });
  }
}

function graphsOf(metrics: MonitoringMetrics): cloudwatch.IWidget[] {
  const { functions, keySync, stockEvents } = metrics.monitored;
  const called = { ...functions.byName, ...(stockEvents && { publisher: stockEvents.publisher }) };
  return [
    graph('Requests and failures', [
      metrics.gateway('Count').with({ label: 'Requests' }),
      metrics.gateway('4XXError').with({ label: '4xx' }),
      metrics.gateway('5XXError').with({ label: '5xx' }),
    ]),
    graph('Latency, ms', responseTimes(metrics), alarmCatalog['slow-answers'].breaches.above),
    graph('Function errors and throttles', [
      ...Object.entries(called).map(([label, one]) => metrics.function(one, 'Errors').with({ label })),
      metrics.accountFunctions('Throttles').with({ label: 'Throttled in the account' }),
    ]),
    graph(
      'Table throttles',
      tableNames.map((name) => {
        const events = ['ReadThrottleEvents', 'WriteThrottleEvents'].map((metric) => metrics.table(name, metric));
        return metrics.sum(`${name}Throttles`, events).with({ label: name });
      }),
    ),
    graph('Sync of keys', [
      metrics.function(keySync.sync, 'Invocations').with({ label: 'Syncs' }),
      metrics.function(keySync.sync, 'Errors').with({ label: 'Failed syncs' }),
      metrics.sync('SyncProblems', cloudwatch.Stats.MAXIMUM).with({ label: 'Problems' }),
    ]),
    graph('Requests by plan', [
      ...planIds.map((plan) => metrics.requests('Requests', { plan }).with({ label: plans[plan].title })),
      metrics.requests('Requests', { plan: 'none' }).with({ label: 'No valid key' }),
    ]),
    graph(
      'Refusals by reason',
      refusalReasons.map((reason) => metrics.requests('Refusals', { reason }).with({ label: reason })),
    ),
  ];
}

function responseTimes(metrics: MonitoringMetrics): cloudwatch.IMetric[] {
  const { authorizer } = metrics.monitored.functions.byName;
  const [p50, p99] = [cloudwatch.Stats.percentile(50), cloudwatch.Stats.percentile(99)];
  return [
    metrics.gateway('Latency', p50, timedOperation).with({ label: `${timedOperation} p50` }),
    metrics.gateway('Latency', p99, timedOperation).with({ label: `${timedOperation} p99` }),
    metrics.function(authorizer, 'Duration', p99).with({ label: 'authorizer p99' }),
  ];
}

/** The table of the keys with most refusals. */
const mostRefused = (monitored: Monitored): cloudwatch.IWidget =>
  new cloudwatch.LogQueryWidget({
    title: 'Keys with most refusals',
    view: cloudwatch.LogQueryVisualizationType.TABLE,
    logGroupNames: logGroupsOf(monitored).requests.map(({ logGroupName }) => logGroupName),
    queryString: queries.refusals.query,
    width: (FULL_WIDTH / 3) * 2,
    height: 6,
  });

/** @param alarmAt draws a line at the threshold of this graph's alarm */
const graph = (title: string, left: cloudwatch.IMetric[], alarmAt?: number): cloudwatch.IWidget =>
  new cloudwatch.GraphWidget({
    title,
    left,
    leftYAxis: { min: 0, showUnits: false },
    ...(alarmAt !== undefined && { leftAnnotations: [{ value: alarmAt, label: 'Alarm' }] }),
    legendPosition: cloudwatch.LegendPosition.BOTTOM,
    width: FULL_WIDTH / 3,
    height: 6,
  });
