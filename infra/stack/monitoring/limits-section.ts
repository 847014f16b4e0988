import type { IWidget } from 'aws-cdk-lib/aws-cloudwatch';
import { operations } from '../../../shared/contract/operations.ts';
import { planIds, plans } from '../../../shared/keys/plans.ts';
import { refusalReasons } from './alarm-table.ts';
import { queries } from './queries.ts';
import type { MonitoredLogs, MonitoringMetrics } from './metrics.ts';
import { axis, graph, heading, queryTable } from './widgets.ts';

export interface LimitsSectionProps {
  readonly metrics: MonitoringMetrics;
  readonly logs: MonitoredLogs;
}

/** What a line says where there is no plan, or no operation. */
const NONE = 'none';

/** Who is hitting limits? */
export function limitsSection({ metrics, logs }: LimitsSectionProps): IWidget[][] {
  return [
    [
      heading(
        'Who is hitting limits?',
        'The table names the keys: npm run admin -- usage ID tells more of one, keys move ID puts it on a higher plan.',
      ),
    ],
    [byPlan(metrics), byReason(metrics), byOperation(metrics)],
    [queryTable('Keys that are refused most', queries.refusals, logs.requests)],
  ];
}

function byPlan(metrics: MonitoringMetrics): IWidget {
  return graph({
    title: 'Requests by plan',
    stacked: true,
    left: [
      ...planIds.map((plan) => metrics.requests('Requests', { plan }).with({ label: plans[plan].title })),
      metrics.requests('Requests', { plan: NONE }).with({ label: 'No valid key' }),
    ],
    leftYAxis: axis('count'),
  });
}

function byReason(metrics: MonitoringMetrics): IWidget {
  const blocked = metrics.firewall('BlockedRequests');
  return graph({
    title: 'Refusals by reason',
    stacked: true,
    left: [
      ...refusalReasons.map((reason) => metrics.requests('Refusals', { reason }).with({ label: reason })),
      ...(blocked ? [blocked.with({ label: 'Firewall' })] : []),
    ],
    leftYAxis: axis('count'),
  });
}

function byOperation(metrics: MonitoringMetrics): IWidget {
  return graph({
    title: 'Requests by operation',
    stacked: true,
    left: [...Object.keys(operations), NONE].map((operation) =>
      metrics.requests('Requests', { operation }).with({ label: operation }),
    ),
    leftYAxis: axis('count'),
  });
}
