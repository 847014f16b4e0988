import { type Alarm, AlarmStatusWidget, type IWidget, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import type { OperationId } from '../../../shared/contract/operations.ts';
import { tableNames } from '../../stages.ts';
import { alarmCatalogue } from './alarm-table.ts';
import type { MonitoringMetrics } from './metrics.ts';
import { axis, FULL_WIDTH, graph, heading } from './widgets.ts';

export interface HealthSectionProps {
  readonly metrics: MonitoringMetrics;
  readonly alarms: readonly Alarm[];
}

/** Operations whose answer comes in one piece: how long a list takes is up to its reader. */
const timed = {
  updateInventory: 'Update',
  getPet: 'Pet',
} as const satisfies Partial<Record<OperationId, string>>;

/** Is it healthy? */
export function healthSection({ metrics, alarms }: HealthSectionProps): IWidget[][] {
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
  const failed = metrics.gateway('5XXError');
  const all = metrics.gateway('Count');
  const share = metrics.formula('100 * failedRequests / allRequests', { failedRequests: failed, allRequests: all });
  return graph({
    title: 'Requests, and how many fail',
    left: [
      all.with({ label: 'Requests' }),
      metrics.gateway('4XXError').with({ label: '4xx' }),
      failed.with({ label: '5xx' }),
    ],
    leftYAxis: axis('count'),
    right: [share.with({ label: '5xx, %' })],
    rightYAxis: axis('%'),
    rightAnnotations: [{ value: alarmCatalogue['api-errors'].breaches.above, label: 'Alarm' }],
  });
}

function latency(metrics: MonitoringMetrics): IWidget {
  const of = (operation: keyof typeof timed, percentile: number) =>
    metrics
      .gateway('Latency', Stats.percentile(percentile), operation)
      .with({ label: `${timed[operation]} p${percentile}` });
  return graph({
    title: 'Time to answer (without the lists)',
    left: [of('updateInventory', 50), of('updateInventory', 99), of('getPet', 50), of('getPet', 99)],
    leftYAxis: axis('ms'),
    leftAnnotations: [{ value: alarmCatalogue['slow-answers'].breaches.above, label: 'Alarm' }],
  });
}

function functionErrors(metrics: MonitoringMetrics): IWidget {
  const throttles = metrics.sum(
    'throttles',
    metrics.requestFunctions.map(([, target]) => metrics.function(target, 'Throttles')),
    'Throttled, all',
  );
  return graph({
    title: 'Functions that break off or are throttled',
    left: [
      ...metrics.requestFunctions.map(([name, target]) => metrics.function(target, 'Errors').with({ label: name })),
      throttles,
    ],
    leftYAxis: axis('count'),
  });
}

function authorizer(metrics: MonitoringMetrics): IWidget {
  const { authorizer: target } = metrics.monitored.functions;
  return graph({
    title: 'Authorizer',
    left: [
      metrics.requests('Refusals', { reason: 'SERVICE_UNAVAILABLE' }).with({ label: 'Not counted (503)' }),
      metrics.requests('ColdStarts').with({ label: 'Cold starts, all functions' }),
    ],
    leftYAxis: axis('count'),
    right: [metrics.function(target, 'Duration', Stats.percentile(99)).with({ label: 'Duration p99' })],
    rightYAxis: axis('ms'),
  });
}

function database(metrics: MonitoringMetrics): IWidget {
  return graph({
    title: 'Tables that throttle',
    stacked: true,
    left: tableNames.map((name) => {
      const events = ['ReadThrottleEvents', 'WriteThrottleEvents'].map((metric) => metrics.table(name, metric));
      return metrics.sum(`${name}Throttles`, events, name);
    }),
    leftYAxis: axis('count'),
  });
}

function sync(metrics: MonitoringMetrics): IWidget {
  const changes = ['KeysAdded', 'KeysChanged', 'KeysDisabled', 'KeysRemoved'].map((name) =>
    metrics.sync(name, Stats.SUM),
  );
  return graph({
    title: 'Sync of keys',
    left: [
      metrics.function(metrics.monitored.sync, 'Invocations').with({ label: 'Syncs' }),
      metrics.sum('changes', changes, 'Keys changed'),
      metrics.sync('SyncProblems', Stats.MAXIMUM).with({ label: 'Problems' }),
      metrics.failedSyncs().with({ label: 'Failed syncs' }),
    ],
    leftYAxis: axis('count'),
  });
}
