import * as v from 'valibot';
import { readLogEvents } from '../local/metrics/log-events.ts';
import { localMetrics } from '../local/metrics/local-metrics.ts';
import type { LocalStack } from '../local/template/stack.ts';
import { alarmsOf } from './alarms/alarm-definition.ts';
import { type AlarmStatus, alarmStatus } from './alarms/alarm-status.ts';
import { parseDashboardBody, type Widget } from './dashboard-body.ts';
import { DashboardError } from './dashboard-error.ts';
import { type From, type TimeRange, timeRange } from './time-range.ts';
import { contentOf, type WidgetContent } from './widget-content.ts';

/** A dashboard of the stack with what a local run puts into it. */
export interface LocalDashboard {
  readonly stackName: string;
  readonly range: TimeRange;
  readonly widgets: readonly { readonly widget: Widget; readonly content: WidgetContent }[];
  readonly alarms: readonly AlarmStatus[];
}

export interface LocalDashboardOptions {
  readonly stackName: string;
  /** Folder of the host's log files. */
  readonly logFolder: string;
  readonly from?: From | undefined;
  /** Unix milliseconds. */
  readonly to?: number | undefined;
}

const dashboardSchema = v.object({ DashboardBody: v.string() });

/**
 * Fills the dashboard of a stack from the logs of a local run.
 *
 * @throws DashboardError, HostError where it cannot be done
 */
export async function localDashboard(
  stack: LocalStack,
  { stackName, logFolder, from, to }: LocalDashboardOptions,
): Promise<LocalDashboard> {
  const [dashboard] = stack.resources('AWS::CloudWatch::Dashboard');
  if (!dashboard) throw new DashboardError('The stack has no dashboard');
  const { DashboardBody: body } = v.parse(dashboardSchema, dashboard.properties);
  const definitions = alarmsOf(stack);
  const widgets = parseDashboardBody(body);

  const events = await readLogEvents(logFolder);
  const range = timeRange(events, { from, to });
  const store = localMetrics(events, stack);
  const alarms = new Map(definitions.map((alarm) => [alarm.arn, alarmStatus(alarm, store, range)]));
  const run = { events, store, alarms, range };
  return {
    stackName,
    range,
    widgets: widgets.map((widget) => ({ widget, content: contentOf(widget, run) })),
    alarms: [...alarms.values()],
  };
}
