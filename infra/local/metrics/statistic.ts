const simple: Readonly<Record<string, (values: readonly number[]) => number>> = {
  Sum: (values) => sum(values),
  Average: (values) => sum(values) / values.length,
  Minimum: (values) => values.reduce((least, value) => Math.min(least, value)),
  Maximum: (values) => values.reduce((most, value) => Math.max(most, value)),
  SampleCount: (values) => values.length,
};

/** Makes one value of all samples of a period. */
export type Statistic = (values: readonly number[]) => number;

/**
 * A statistic by CloudWatch's name for it: `Sum`, `Average`, `Minimum`, `Maximum`, `SampleCount`, or a percentile such as
 * `p99` or `p99.9`, which is the smallest sample that at least so many per cent of the samples do not exceed. A period
 * without samples has none of them.
 *
 * @returns undefined for another name
 */
export function statisticOf(name: string): Statistic | undefined {
  const { percentile } = /^p(?<percentile>\d{1,2}(?:\.\d+)?|100)$/.exec(name)?.groups ?? {};
  if (percentile === undefined) return Object.hasOwn(simple, name) ? simple[name] : undefined;
  return (values) => {
    const sorted = values.toSorted((one, other) => one - other);
    const rank = Math.max(1, Math.ceil((Number(percentile) / 100) * sorted.length));
    return sorted[rank - 1] ?? Number.NaN;
  };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
