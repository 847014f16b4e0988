import type { LocalDashboard } from './local-dashboard.ts';
import type { WidgetContent } from './widget-content.ts';

/** What `npm run dashboard -- --json` prints: times in ISO 8601, data points that are there. */
export function dashboardAsJson({ stackName, range, widgets, alarms }: LocalDashboard) {
  return {
    stack: stackName,
    from: isoTime(range.from),
    to: isoTime(range.to),
    alarms: alarms.map(({ name, state, since, value, threshold, description, notMeasured }) => ({
      name,
      state,
      since: since === undefined ? undefined : isoTime(since),
      value,
      threshold,
      description,
      notMeasured: listed(notMeasured),
    })),
    widgets: widgets
      .filter(({ content }) => content.kind !== 'text' && content.kind !== 'alarms')
      .map(({ widget, content }) => ({
        title: 'title' in widget.properties ? widget.properties.title : undefined,
        content: contentAsJson(content),
      })),
  };
}

function contentAsJson(content: WidgetContent): Readonly<Record<string, unknown>> {
  if (content.kind === 'table') return { rows: content.rows };
  if (content.kind === 'numbers') return { numbers: content.numbers, notMeasured: listed(content.notMeasured) };
  if (content.kind !== 'graph') return {};
  const series = content.series.map(({ label, points }) => ({
    label,
    points: points.flatMap(([at, value]) => (value === undefined ? [] : [{ time: isoTime(at), value }])),
  }));
  return { series, notMeasured: listed(content.notMeasured) };
}

/** Left out where there are none. */
function listed(names: readonly string[]): readonly string[] | undefined {
  return names.length === 0 ? undefined : names;
}

function isoTime(at: number): string {
  return new Date(at).toISOString();
}
