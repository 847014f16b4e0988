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

export function exactly(what: string, value: number, expected: number): Figure {
  return { what, measured: format(value), target: format(expected), met: value === expected };
}

export function report(what: string, value: number, unit = ''): Figure {
  return { what, measured: `${format(value)}${unit}`, target: '–' };
}

/** Reports where the bench is: parts of it take a minute or two. */
export function progress(step: string): void {
  process.stderr.write(`  ${step} …\n`);
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2;
}

/** What 99 % of the values are not above. */
export const p99 = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.99)] ?? Number.NaN;

/** Milliseconds. */
export async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

const format = (value: number): string => value.toLocaleString('en', { maximumFractionDigits: value < 10 ? 2 : 0 });
