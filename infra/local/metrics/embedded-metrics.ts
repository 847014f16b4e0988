import * as v from 'valibot';
import type { LogEvent } from './log-events.ts';
import type { Sample } from './metric-store.ts';

const dimensionSet = v.pipe(v.array(v.string()), v.maxLength(30));

/** The metadata of a line in Embedded Metric Format (CloudWatch user guide, "Specification: Embedded metric format"). */
const metadataSchema = v.object({
  Timestamp: v.number(),
  CloudWatchMetrics: v.array(
    v.object({
      Namespace: v.string(),
      Dimensions: v.array(dimensionSet),
      Metrics: v.pipe(v.array(v.object({ Name: v.string(), Unit: v.optional(v.string()) })), v.maxLength(100)),
    }),
  ),
});

const valuesSchema = v.union([
  v.pipe(
    v.number(),
    v.transform((value) => [value]),
  ),
  v.pipe(v.array(v.number()), v.maxLength(100)),
]);

/**
 * The metrics in a line, one sample for each value and set of dimensions. CloudWatch drops what does not keep to the
 * format without a word, and so nothing comes of it here.
 */
export function embeddedMetrics({ fields }: LogEvent): Sample[] {
  if (fields?.['_aws'] === undefined) return [];
  const metadata = v.safeParse(metadataSchema, fields['_aws']);
  if (!metadata.success) return [];
  const { Timestamp: at, CloudWatchMetrics: directives } = metadata.output;
  return directives.flatMap(({ Namespace: namespace, Dimensions: dimensionSets, Metrics: metrics }) =>
    dimensionSets.flatMap((names) => {
      const dimensions = dimensionsOf(names, fields);
      if (!dimensions) return [];
      return metrics.flatMap(({ Name: name }) =>
        valuesOf(fields[name]).map((value) => ({ namespace, name, dimensions, at, value })),
      );
    }),
  );
}

function dimensionsOf(
  names: readonly string[],
  fields: Readonly<Record<string, unknown>>,
): Record<string, string> | undefined {
  const dimensions: Record<string, string> = {};
  for (const name of names) {
    const value = fields[name];
    if (typeof value !== 'string') return undefined;
    dimensions[name] = value;
  }
  return dimensions;
}

function valuesOf(value: unknown): number[] {
  const values = v.safeParse(valuesSchema, value);
  return values.success ? values.output : [];
}
