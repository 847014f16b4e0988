import * as v from 'valibot';

/** The units that CloudWatch knows (API reference of MetricDatum) and that are used here. */
const unit = v.picklist(['Count', 'Milliseconds', 'Bytes', 'None']);

const metricDirective = v.strictObject({
  Namespace: v.pipe(v.string(), v.minLength(1), v.maxLength(1_024)),
  Dimensions: v.pipe(
    v.array(v.pipe(v.array(v.pipe(v.string(), v.minLength(1), v.maxLength(250))), v.maxLength(30))),
    v.minLength(1),
  ),
  Metrics: v.pipe(
    v.array(
      v.strictObject({
        Name: v.pipe(v.string(), v.minLength(1), v.maxLength(1_024)),
        Unit: v.optional(unit),
        StorageResolution: v.optional(v.picklist([1, 60])),
      }),
    ),
    v.minLength(1),
    v.maxLength(100),
  ),
});

const metricValue = v.union([v.number(), v.pipe(v.array(v.number()), v.minLength(1), v.maxLength(100))]);
const dimensionValue = v.pipe(v.string(), v.minLength(1), v.maxLength(1_024), v.regex(/\S/));

/**
 * The rules of CloudWatch's Embedded Metric Format (CloudWatch user guide, "Specification: Embedded metric format"):
 * a line that breaks one is kept as a line, and its metrics are lost without a word.
 */
const embeddedMetricsSchema = v.pipe(
  v.looseObject({
    _aws: v.object({
      Timestamp: v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
      CloudWatchMetrics: v.pipe(v.array(metricDirective), v.minLength(1)),
    }),
  }),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return;
    const { _aws: format, ...members } = dataset.value;
    for (const { Dimensions, Metrics } of format.CloudWatchMetrics) {
      for (const name of Dimensions.flat()) {
        if (!v.is(dimensionValue, members[name])) addIssue({ message: `The dimension ${name} has no text` });
      }
      for (const { Name } of Metrics) {
        if (!v.is(metricValue, members[Name])) addIssue({ message: `The metric ${Name} has no number` });
      }
    }
  }),
);

/** One value of a metric, as CloudWatch takes it from a line. */
export interface TakenMetric {
  readonly namespace: string;
  readonly name: string;
  readonly dimensions: Readonly<Record<string, unknown>>;
  readonly value: unknown;
}

/** What CloudWatch takes from a line. @throws ValiError where the line breaks a rule of the format */
export function metricsIn(line: unknown): TakenMetric[] {
  const { _aws: format, ...members } = v.parse(embeddedMetricsSchema, line);
  return format.CloudWatchMetrics.flatMap(({ Namespace: namespace, Dimensions, Metrics }) =>
    Metrics.flatMap(({ Name: name }) =>
      Dimensions.map((set) => ({
        namespace,
        name,
        dimensions: Object.fromEntries(set.map((dimension) => [dimension, members[dimension]])),
        value: members[name],
      })),
    ),
  );
}
