/** One line of the bench: what was measured, what came out, and what it should be. */
export interface Figure {
  readonly what: string;
  readonly measured: string;
  readonly target: string;
  /** Undefined where there is no target. */
  readonly met?: boolean;
}

export function atMost(what: string, value: number, limit: number, unit = ''): Figure {
  return { what, measured: `${format(value)}${unit}`, target: `≤ ${format(limit)}${unit}`, met: value <= limit };
}

export function atLeast(what: string, value: number, limit: number, unit = ''): Figure {
  return { what, measured: `${format(value)}${unit}`, target: `≥ ${format(limit)}${unit}`, met: value >= limit };
}

export function exactly(what: string, value: number, expected: number, unit = ''): Figure {
  return { what, measured: `${format(value)}${unit}`, target: `${format(expected)}${unit}`, met: value === expected };
}

/** The median of the ratios of pairs that were measured in turn, with the medians of both sides beside it. */
export function ratioAtMost(
  what: string,
  pairs: readonly (readonly [number, number])[],
  limit: number,
  unit: string,
): Figure {
  const figure = atMost(what, median(pairs.map(([one, other]) => one / other)), limit);
  const [ones, others] = [median(pairs.map(([one]) => one)), median(pairs.map(([, other]) => other))];
  return { ...figure, measured: `${figure.measured} (${ones.toFixed(1)}${unit} ÷ ${others.toFixed(1)}${unit})` };
}

export function report(what: string, value: number, unit = ''): Figure {
  return { what, measured: `${format(value)}${unit}`, target: '–' };
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2;
}

const format = (value: number): string => value.toLocaleString('en', { maximumFractionDigits: value < 10 ? 2 : 0 });
