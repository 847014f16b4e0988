import type { LogEvent } from '../local/metrics/log-events.ts';
import type { MetricStore } from '../local/metrics/metric-store.ts';
import { statisticOf } from '../local/metrics/statistic.ts';
import type { AlarmStatus } from './alarms/alarm-status.ts';
import type { AxisSide, MetricRow, Widget, WidgetOf } from './dashboard-body.ts';
import { DashboardError } from './dashboard-error.ts';
import { type LogTable, runLogQuery } from './log-queries/log-query.ts';
import { MetricMath, type MetricQuery, type TimeGrid } from './metric-math.ts';
import type { TimeRange } from './time-range.ts';

export interface GraphSeries {
  readonly label: string;
  readonly color: string | undefined;
  readonly axis: AxisSide;
  /** The start of each period in Unix milliseconds, and its data point. */
  readonly points: readonly (readonly [at: number, value: number | undefined])[];
}

/** What a widget shows of a local run. */
export type WidgetContent =
  | { readonly kind: 'text'; readonly markdown: string }
  | {
      readonly kind: 'graph';
      readonly series: readonly GraphSeries[];
      /** Metrics that a local run does not tell. */
      readonly notMeasured: readonly string[];
    }
  | {
      readonly kind: 'numbers';
      readonly numbers: readonly { readonly label: string; readonly value: number | undefined }[];
      readonly notMeasured: readonly string[];
    }
  | { readonly kind: 'alarms'; readonly alarms: readonly AlarmStatus[] }
  | ({ readonly kind: 'table' } & LogTable);

/** A local run, as far as its dashboard is about it. */
export interface LocalRun {
  readonly events: readonly LogEvent[];
  readonly store: MetricStore;
  /** By ARN. */
  readonly alarms: ReadonlyMap<string, AlarmStatus>;
  readonly range: TimeRange;
}

/** @throws DashboardError for a widget that is not known here */
export function contentOf(widget: Widget, run: LocalRun): WidgetContent {
  if (widget.type === 'text') return { kind: 'text', markdown: widget.properties.markdown };
  if (widget.type === 'metric') return metricContent(widget, run);
  if (widget.type === 'alarm') {
    return { kind: 'alarms', alarms: widget.properties.alarms.map((arn) => alarmOf(arn, run)) };
  }
  const { from, to } = run.range;
  const events = run.events.filter(({ at }) => at >= from && at < to);
  return { kind: 'table', ...runLogQuery(widget.properties.query, events) };
}

function alarmOf(arn: string, { alarms }: LocalRun): AlarmStatus {
  const alarm = alarms.get(arn);
  if (!alarm) throw new DashboardError(`The dashboard shows an alarm that the stack does not have: ${arn}`);
  return alarm;
}

function metricContent({ properties }: WidgetOf<'metric'>, { store, range }: LocalRun): WidgetContent {
  const { metrics, stat, period: widgetPeriod, view, setPeriodToTimeRange } = properties;
  // What no other row can name needs an id all the same.
  const rows = metrics.map(({ names, options }, index) => ({ names, options, id: options.id ?? `row ${index}` }));
  const math = new MetricMath(store, new Map(rows.map((row) => [row.id, queryOf(row, stat)])));
  const shown = rows.filter(({ options }) => options.visible);
  const measured = shown.filter(({ id }) => math.notMeasured(id).length === 0);
  const notMeasured = [...new Set(shown.flatMap(({ id }) => math.notMeasured(id)))];
  if (view === 'singleValue') {
    const numbers = measured.map((row) => {
      const grid = setPeriodToTimeRange ? wholeRange(range) : gridOf(range, row.options.period ?? widgetPeriod);
      return { label: labelOf(row), value: math.series(row.id, grid).findLast((value) => value !== undefined) };
    });
    return { kind: 'numbers', numbers, notMeasured };
  }
  const series = measured.map((row): GraphSeries => {
    const grid = gridOf(range, row.options.period ?? widgetPeriod);
    const { color, yAxis } = row.options;
    const points = math
      .series(row.id, grid)
      .map((value, index) => [grid.start + index * grid.periodMs, value] as const);
    return { label: labelOf(row), color, axis: yAxis, points };
  });
  return { kind: 'graph', series, notMeasured };
}

function queryOf({ names, options }: MetricRow, statByDefault: string): MetricQuery {
  if (options.expression !== undefined) return { kind: 'expression', expression: options.expression };
  const [namespace = '', name = '', ...pairs] = names;
  if (names.some((part) => part.startsWith('.')) || pairs.length % 2 !== 0) {
    throw new DashboardError(`The dashboard abbreviates a metric, which is not known here: ${names.join(' ')}`);
  }
  const stat = options.stat ?? statByDefault;
  const statistic = statisticOf(stat);
  if (!statistic) throw new DashboardError(`The statistic ${stat} of ${name} is not known here`);
  const dimensions: Record<string, string> = {};
  for (let index = 0; index < pairs.length; index += 2) dimensions[pairs[index] ?? ''] = pairs[index + 1] ?? '';
  return { kind: 'metric', metric: { namespace, name, dimensions }, statistic };
}

function labelOf({ names, options }: MetricRow): string {
  return options.label ?? options.expression ?? names[1] ?? '';
}

/** Periods as CloudWatch cuts them: the hour begins with one. @param period seconds */
function gridOf({ from, to }: TimeRange, period: number): TimeGrid {
  const periodMs = period * 1_000;
  const start = Math.floor(from / periodMs) * periodMs;
  return { start, periodMs, count: Math.ceil((to - start) / periodMs) };
}

function wholeRange({ from, to }: TimeRange): TimeGrid {
  return { start: from, periodMs: to - from, count: 1 };
}
