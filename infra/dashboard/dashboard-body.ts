import * as v from 'valibot';
import { DashboardError } from './dashboard-error.ts';

/** What is drawn of CloudWatch's dashboards (CloudWatch API reference, "Dashboard Body Structure and Syntax"). */

const place = { x: v.number(), y: v.number(), width: v.number(), height: v.number() };
/** Says where the data is; here it is all on this machine. */
const region = v.optional(v.string());

const textWidget = v.strictObject({
  ...place,
  type: v.literal('text'),
  properties: v.strictObject({ markdown: v.string(), background: v.optional(v.string()) }),
});

const alarmWidget = v.strictObject({
  ...place,
  type: v.literal('alarm'),
  properties: v.strictObject({
    title: v.optional(v.string()),
    /** By their ARNs. */
    alarms: v.array(v.string()),
  }),
});

const logWidget = v.strictObject({
  ...place,
  type: v.literal('log'),
  properties: v.strictObject({
    view: v.literal('table'),
    title: v.optional(v.string()),
    region,
    query: v.string(),
  }),
});

const axisSide = v.picklist(['left', 'right']);

const rowOptions = v.strictObject({
  id: v.optional(v.string()),
  expression: v.optional(v.string()),
  label: v.optional(v.string()),
  color: v.optional(v.string()),
  visible: v.optional(v.boolean(), true),
  yAxis: v.optional(axisSide, 'left'),
  stat: v.optional(v.string()),
  period: v.optional(v.number()),
  region,
});

/** Namespace, name, names and values of dimensions, options; or the options of an expression. */
const metricRow = v.pipe(
  v.array(v.union([v.string(), rowOptions])),
  v.transform((parts) => {
    const names = parts.filter((part) => typeof part === 'string');
    return { names, options: parts.find((part) => typeof part !== 'string') ?? v.parse(rowOptions, {}) };
  }),
);

const axis = v.strictObject({
  min: v.optional(v.number()),
  max: v.optional(v.number()),
  label: v.optional(v.string()),
  showUnits: v.optional(v.boolean()),
});

const metricWidget = v.strictObject({
  ...place,
  type: v.literal('metric'),
  properties: v.strictObject({
    view: v.picklist(['timeSeries', 'singleValue']),
    title: v.optional(v.string()),
    region,
    stacked: v.optional(v.boolean(), false),
    metrics: v.array(metricRow),
    stat: v.optional(v.string(), 'Average'),
    /** Seconds. */
    period: v.optional(v.number(), 300),
    setPeriodToTimeRange: v.optional(v.boolean(), false),
    liveData: v.optional(v.boolean()),
    singleValueFullPrecision: v.optional(v.boolean()),
    legend: v.optional(v.strictObject({ position: v.picklist(['bottom', 'right', 'hidden']) })),
    yAxis: v.optional(v.strictObject({ left: v.optional(axis, {}), right: v.optional(axis, {}) })),
    annotations: v.optional(
      v.strictObject({
        horizontal: v.optional(
          v.array(
            v.strictObject({
              value: v.number(),
              label: v.optional(v.string()),
              color: v.optional(v.string()),
              yAxis: v.optional(axisSide, 'left'),
              visible: v.optional(v.boolean()),
              fill: v.optional(v.string()),
            }),
          ),
          [],
        ),
        vertical: v.optional(v.pipe(v.array(v.unknown()), v.maxLength(0))),
      }),
    ),
  }),
});

const bodySchema = v.object({
  widgets: v.array(v.variant('type', [textWidget, metricWidget, alarmWidget, logWidget])),
});

export type Widget = v.InferOutput<typeof bodySchema>['widgets'][number];
export type WidgetOf<Type extends Widget['type']> = Extract<Widget, { readonly type: Type }>;
export type MetricRow = v.InferOutput<typeof metricRow>;
export type AxisSide = v.InferOutput<typeof axisSide>;

/**
 * Reads the body of a dashboard.
 *
 * @param body JSON text
 * @throws DashboardError naming what is not known here
 */
export function parseDashboardBody(body: string): readonly Widget[] {
  const result = v.safeParse(bodySchema, JSON.parse(body));
  if (result.success) return result.output.widgets;
  const [issue] = result.issues;
  const property = v.getDotPath(issue) ?? '';
  throw new DashboardError(`The dashboard has a part that is not known here: ${property} (${issue.message})`);
}
