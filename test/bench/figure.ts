import type { RequestUsage } from './cost-page.ts';

/** One line of the bench: what was measured, what came out, and what it should be. */
export interface Figure {
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  readonly detail?: string;
  /** Where it is of a request: all that the request takes. */
  readonly usage?: RequestUsage;
  /** The value that meets the target: at most this. */
  readonly limit?: number;
  readonly ifMissed?: string;
  /** Whether the page of numbers has it though it has no target. */
  readonly isShown?: true;
}

/** The parts of the bench. That in virtual time comes first: it is for a process in which nothing else runs. */
export const partNames = ['attacks', 'costs', 'parsers', 'cold', 'host', 'listing'] as const;

/** How much is measured: all of it, or one small round, which shows that the measurement works. */
export type Size = 'whole' | 'small';

export const atMost = (what: string, value: number, limit: number, unit = ''): Figure => ({ what, value, limit, unit });

export const report = (what: string, value: number, unit = ''): Figure => ({ what, value, unit });

/** The cells of a table: what was measured, the value, the target, and whether it is met. */
export function cellsOf({ what, value, unit, detail, limit, ifMissed }: Figure): string[] {
  const measured = `${format(value)}${unit}${detail === undefined ? '' : ` (${detail})`}`;
  if (limit === undefined) return [what, measured, '–', ''];
  // A count has none below 0.
  const target = `${limit === 0 ? '' : '≤ '}${format(limit)}${unit}`;
  return [what, measured, target, value <= limit ? 'met' : ['missed', ifMissed].filter(Boolean).join(': ')];
}

/** A figure for each measure, such as `concurrent authorizers`: the worst of its cases. */
export function worstOf(figures: readonly Figure[]): Figure[] {
  const measures = Map.groupBy(figures, ({ what }) => what.slice(what.lastIndexOf(': ') + 1).trim());
  return [...measures].flatMap(([measure, cases]) => {
    const [worst] = cases.toSorted((a, b) => b.value - a.value);
    if (!worst || (worst.limit === undefined && !worst.isShown)) return [];
    const { detail: _, ...rest } = worst;
    return [cases.length === 1 ? worst : { ...rest, what: `${measure}, worst of ${cases.length}` }];
  });
}

export const faultsOf = (figures: readonly Figure[]): string[] =>
  figures
    .filter(({ value, usage = {} }) => ![value, ...Object.values(usage)].every(Number.isFinite))
    .map(({ what }) => `"${what}" is no number`);

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

/** A number as pages have it: with its thousands apart, and no more digits than say something. */
export const format = (value: number): string =>
  value.toLocaleString('en', { maximumFractionDigits: Math.abs(value) < 10 ? 2 : 0 });
