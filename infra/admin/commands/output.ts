import { stripVTControlCharacters, styleText } from 'node:util';
import { Presets, SingleBar } from 'cli-progress';
import Table from 'cli-table3';
import type { OnProgress } from '../records/record-kinds.ts';
import type { ProgressListener } from '../target.ts';
import { formatNumber, visible, withTarget } from '../text-format.ts';

/** Spaces between two columns. */
const GAP = 2;

type Style = Parameters<typeof styleText>[0];

/** Says on standard error what a command waits for, and has to leave out. @param option that names the service */
export function progressListener(option: string): ProgressListener {
  let isReported = false;
  const say = (message: string): void => void process.stderr.write(`${withTarget(visible(message), option)}\n`);
  return {
    throttled() {
      // Once: the SDK waits and tries again by itself.
      if (!isReported) say('API Gateway takes no more calls for the moment; waiting …');
      isReported = true;
    },
    unreadable: ({ message }) => say(message),
    incomplete: say,
  };
}

/**
 * Shows a bar on standard error, where that is a terminal, while work is under way that reports its progress. Ctrl-C ends
 * the command, with a terminal as it was.
 *
 * @param interrupted what is so after Ctrl-C
 */
export async function withProgress<Result>(
  { doing, interrupted }: { readonly doing: string; readonly interrupted: ProgressText },
  work: (onProgress: OnProgress) => Promise<Result>,
): Promise<Result> {
  const format = `${doing} {bar} {percentage}% | {value} of {total}`;
  const bar = new SingleBar({ format, formatValue: formatNumber, stream: process.stderr }, Presets.shades_classic);
  let reached: readonly [done: number, total: number] = [0, 0];
  const stop = (): never => {
    bar.stop();
    process.stderr.write(`${visible(interrupted(...reached))}\n`);
    // What a shell expects of a program that was interrupted; `exit` listeners still run.
    process.exit(130);
  };
  process.once('SIGINT', stop);
  try {
    return await work((done, total) => {
      reached = [done, total];
      if (!bar.isActive) bar.start(total, done);
      bar.setTotal(total);
      bar.update(done);
    });
  } finally {
    process.off('SIGINT', stop);
    bar.stop();
  }
}

/** Says how far it came. */
export type ProgressText = (...reached: Parameters<OnProgress>) => string;

/** Text in a colour, where standard output is a terminal that has it. */
export function styled(style: Style, text: string): string {
  return styleText(style, text, { stream: process.stdout });
}

/**
 * Rows under a head: drawn for a terminal; for a pipe, tabs between the values, which `cut` and `awk` take. Where the
 * terminal is too narrow, the widest columns are broken into lines, or each row becomes a list of its own.
 */
export function table(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  numeric: readonly number[] = [],
): string {
  if (!process.stdout.isTTY) return [head, ...rows].map((row) => row.join('\t')).join('\n');
  const colWidths = fittingWidths([head, ...rows], process.stdout.columns);
  if (colWidths === undefined) return rows.map((row) => list(head, row)).join('\n\n');
  const drawn = new Table({
    head: head.map((title) => styled(['bold', 'underline'], title)),
    colAligns: head.map((_, column) => (numeric.includes(column) ? 'right' : 'left')),
    colWidths,
    wordWrap: true,
    chars: noLines,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': GAP },
  });
  for (const row of rows) drawn.push([...row]);
  const lines = drawn.toString().split('\n');
  return lines.map((line) => line.trimEnd()).join('\n');
}

/** Values under each other, each beside its title. */
export function list(titles: readonly string[], values: readonly string[]): string {
  const width = longest(titles) + GAP;
  return titles.map((title, at) => `${styled('bold', title.padEnd(width))}${values[at] ?? ''}`).join('\n');
}

/**
 * The widths of the columns, at most `columns` together: the widest are narrowed, as far as their words let them.
 *
 * @returns undefined where the words need more room than there is
 */
function fittingWidths(rows: readonly (readonly string[])[], columns: number): number[] | undefined {
  const cells = (rows[0] ?? []).map((_, column) => rows.map((row) => stripVTControlCharacters(row[column] ?? '')));
  const least = cells.map((column) => longest(column.flatMap((cell) => cell.split(' '))) + GAP);
  let widths = cells.map((column) => longest(column) + GAP);
  // After the last column there is no gap.
  while (widths.reduce((sum, width) => sum + width, -GAP) > columns) {
    const narrowable = widths.map((width, at) => (width > (least[at] ?? 0) ? width : 0));
    const widest = Math.max(...narrowable);
    if (widest === 0) return undefined;
    widths = widths.with(narrowable.indexOf(widest), widest - 1);
  }
  return widths;
}

/** Of any number of texts: the words of ten thousand names are too many arguments for `Math.max`. */
const longest = (texts: readonly string[]): number => texts.reduce((most, { length }) => Math.max(most, length), 0);

/** Columns stand apart by spaces alone: eight of them fit a terminal. */
const sides = ['top', 'bottom', 'left', 'mid', 'right'];
const lines = ['middle', ...sides.flatMap((side) => [side, `${side}-mid`, `${side}-left`, `${side}-right`])];
const noLines = Object.fromEntries(lines.map((line) => [line, '']));
