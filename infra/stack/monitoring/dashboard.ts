import { Aws, Duration, Stack } from 'aws-cdk-lib';
import {
  type Alarm,
  AlarmStatusWidget,
  Dashboard,
  GraphWidget,
  type GraphWidgetProps,
  type IMetric,
  type IWidget,
  LegendPosition,
  LogQueryVisualizationType,
  LogQueryWidget,
  Stats,
  TextWidget,
  TextWidgetBackground,
} from 'aws-cdk-lib/aws-cloudwatch';
import { Construct } from 'constructs';
import { operations } from '../../../shared/contract/operations.ts';
import { planIds, plans } from '../../../shared/keys/plans.ts';
import { tableNames } from '../../stages.ts';
import { timedOperations } from '../operation-functions.ts';
import { alarmCatalogue, refusalReasons } from './alarm-table.ts';
import { logGroupsOf, type Monitored, MonitoringMetrics } from './metrics.ts';
import { queries } from './queries.ts';

export interface ServiceDashboardProps extends Monitored {
  readonly alarms: readonly Alarm[];
}

/** Data points of all graphs, as long as no more than some hours are shown: CloudWatch takes longer ones for days. */
const PERIOD = Duration.minutes(1);

/** Columns of a dashboard. */
const FULL_WIDTH = 24;

/** What a line says where there is no plan, or no operation. */
const NONE = 'none';

/** One page that answers: is it healthy, who is hitting limits? */
export class ServiceDashboard extends Construct {
  constructor(scope: Construct, id: string, { alarms, ...monitored }: ServiceDashboardProps) {
    super(scope, id);
    const metrics = new MonitoringMetrics(monitored, PERIOD);
    new Dashboard(this, 'Dashboard', {
      // Dashboards are the account's, not the region's.
      dashboardName: `${Stack.of(this).stackName}-${Aws.REGION}`,
      defaultInterval: Duration.hours(3),
      widgets: [...healthSection(metrics, alarms), ...limitsSection(metrics)],
    });
  }
}

function healthSection(metrics: MonitoringMetrics, alarms: readonly Alarm[]): IWidget[][] {
  return [
    [
      heading(
        'Is it healthy?',
        'All alarms green and no 5xx: yes. The description of each alarm names its first step and its runbook.',
      ),
    ],
    ...(alarms.length > 0
      ? [[new AlarmStatusWidget({ title: 'Alarms', alarms: [...alarms], width: FULL_WIDTH, height: 4 })]]
      : []),
    [requests(metrics), latency(metrics), functionErrors(metrics)],
    [authorizer(metrics), database(metrics), sync(metrics)],
  ];
}

function requests(metrics: MonitoringMetrics): IWidget {
  const failedRequests = metrics.gateway('5XXError');
  const allRequests = metrics.gateway('Count');
  const share = metrics.formula('100 * failedRequests / allRequests', { failedRequests, allRequests }, '5xx, %');
  const left = [
    allRequests.with({ label: 'Requests' }),
    metrics.gateway('4XXError').with({ label: '4xx' }),
    failedRequests.with({ label: '5xx' }),
  ];
  return graph('Requests, and how many fail', 'count', left, {
    right: [share],
    rightYAxis: axis('%'),
    rightAnnotations: [{ value: alarmCatalogue['api-errors'].breaches.above, label: 'Alarm' }],
  });
}

/** Of operations whose answer comes in one piece: how long a list takes is up to its reader. */
function latency(metrics: MonitoringMetrics): IWidget {
  const left = timedOperations.flatMap((operation) =>
    [50, 99].map((percentile) =>
      metrics
        .gateway('Latency', Stats.percentile(percentile), operation)
        .with({ label: `${operation} p${percentile}` }),
    ),
  );
  return graph('Time to answer (an update, a pet)', 'ms', left, {
    leftAnnotations: [{ value: alarmCatalogue['slow-answers'].breaches.above, label: 'Alarm' }],
  });
}

function functionErrors(metrics: MonitoringMetrics): IWidget {
  const { byName, all } = metrics.monitored.functions;
  const errors = Object.entries(byName).map(([label, one]) => metrics.function(one, 'Errors').with({ label }));
  const throttles = all.map((one) => metrics.function(one, 'Throttles'));
  return graph('Functions that break off or are throttled', 'count', [
    ...errors,
    metrics.sum('throttles', throttles, 'Throttled, all'),
  ]);
}

function authorizer(metrics: MonitoringMetrics): IWidget {
  const { authorizer: target } = metrics.monitored.functions.byName;
  const left = [
    metrics.requests('Refusals', { reason: 'SERVICE_UNAVAILABLE' }).with({ label: 'Not counted (503)' }),
    metrics.requests('ColdStarts').with({ label: 'Cold starts, all functions' }),
  ];
  return graph('Authorizer', 'count', left, {
    right: [metrics.function(target, 'Duration', Stats.percentile(99)).with({ label: 'Duration p99' })],
    rightYAxis: axis('ms'),
  });
}

function database(metrics: MonitoringMetrics): IWidget {
  const left = tableNames.map((name) => {
    const events = ['ReadThrottleEvents', 'WriteThrottleEvents'].map((metric) => metrics.table(name, metric));
    return metrics.sum(`${name}Throttles`, events, name);
  });
  return graph('Tables that throttle', 'count', left, { stacked: true });
}

function sync(metrics: MonitoringMetrics): IWidget {
  const changes = ['KeysAdded', 'KeysChanged', 'KeysClosed', 'KeysApplied'].map((name) =>
    metrics.sync(name, Stats.SUM),
  );
  return graph('Sync of keys', 'count', [
    metrics.function(metrics.monitored.keySync.sync, 'Invocations').with({ label: 'Syncs' }),
    metrics.sum('changes', changes, 'Keys changed'),
    metrics.sync('SyncProblems', Stats.MAXIMUM).with({ label: 'Problems' }),
    metrics.failedSyncs().with({ label: 'Failed syncs' }),
  ]);
}

function limitsSection(metrics: MonitoringMetrics): IWidget[][] {
  const requestsOf = (field: Readonly<Record<string, string>>, label: string) =>
    metrics.requests('Requests', field).with({ label });
  const byPlan = [
    ...planIds.map((plan) => requestsOf({ plan }, plans[plan].title)),
    requestsOf({ plan: NONE }, 'No valid key'),
  ];
  const blocked = metrics.blocked();
  const byReason = [
    ...refusalReasons.map((reason) => metrics.requests('Refusals', { reason }).with({ label: reason })),
    ...(blocked ? [blocked.with({ label: 'Firewall' })] : []),
  ];
  const byOperation = [...Object.keys(operations), NONE].map((operation) => requestsOf({ operation }, operation));
  const stacked = true;
  return [
    [
      heading(
        'Who is hitting limits?',
        'The table names the keys: npm run admin -- usage ID shows one, keys move ID puts it on a higher plan.',
      ),
    ],
    [
      graph('Requests by plan', 'count', byPlan, { stacked }),
      graph('Refusals by reason', 'count', byReason, { stacked }),
      graph('Requests by operation', 'count', byOperation, { stacked }),
    ],
    [
      new LogQueryWidget({
        title: 'Keys that are refused most',
        view: LogQueryVisualizationType.TABLE,
        logGroupNames: logGroupsOf(metrics.monitored).requests.map(({ logGroupName }) => logGroupName),
        queryString: queries.refusals.query,
        width: FULL_WIDTH,
        height: 6,
      }),
    ],
  ];
}

/** The heading of a section: the question that it answers, and how to read it. */
function heading(question: string, hint: string): TextWidget {
  return new TextWidget({
    markdown: `## ${question}\n${hint}`,
    width: FULL_WIDTH,
    height: 2,
    background: TextWidgetBackground.TRANSPARENT,
  });
}

/** A graph of a third of the width, with its legend below. */
function graph(title: string, unit: string, left: IMetric[], more: GraphWidgetProps = {}): IWidget {
  const size = { width: FULL_WIDTH / 3, height: 6 };
  return new GraphWidget({
    title,
    left,
    leftYAxis: axis(unit),
    legendPosition: LegendPosition.BOTTOM,
    ...size,
    ...more,
  });
}

/** An axis from 0 on, with its unit as it is written here. */
const axis = (label: string) => ({ label, min: 0, showUnits: false });
