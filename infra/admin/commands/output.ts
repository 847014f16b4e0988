import { styleText } from 'node:util';
import { Presets, SingleBar } from 'cli-progress';
import Table from 'cli-table3';
import type { OnProgress } from '../records/record-kinds.ts';
import type { Notices } from '../target.ts';

/** Throttling is reported once in so many milliseconds. */
const THROTTLED_MS = 3_000;

export interface OutputOptions {
  /** One JSON value on standard output, and nothing else. */
  readonly json: boolean;
}

type Style = Parameters<typeof styleText>[0];

/** Prints what a command has to say: as JSON for scripts, else as text for people. */
export function print({ json }: OutputOptions, value: unknown, text: () => string): void {
  process.stdout.write(`${json ? JSON.stringify(value) : text()}\n`);
}

/** Says on standard error, while a command is under way, what it waits for and what it has to leave out. */
export const notices: Notices = { throttled: reportThrottling, unreadable: ({ message }) => say(message) };

let lastReported = -Infinity;

/** Now and then: the SDK waits and tries again by itself. */
function reportThrottling(): void {
  if (performance.now() - lastReported < THROTTLED_MS) return;
  lastReported = performance.now();
  say('API Gateway takes no more calls for the moment; waiting …');
}

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** Shows a bar on standard error, where that is a terminal, while work is under way that tells how far it is. */
export async function withProgress<Result>(
  what: string,
  work: (onProgress: OnProgress) => Promise<Result>,
): Promise<Result> {
  const format = `${what} {bar} {percentage}% | {value} of {total} | {eta_formatted} left`;
  const bar = new SingleBar({ format, stream: process.stderr }, Presets.shades_classic);
  try {
    return await work((done, total) => {
      if (!bar.isActive) bar.start(total, done);
      bar.setTotal(total);
      bar.update(done);
    });
  } finally {
    bar.stop();
  }
}

/** Text in a colour, where standard output is a terminal that has it. */
export function styled(style: Style, text: string): string {
  return styleText(style, text, { stream: process.stdout });
}

/** Rows under a head: drawn for a terminal; for a pipe, tabs between the values, which `cut` and `awk` take. */
export function table(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  numeric: readonly number[] = [],
): string {
  if (!process.stdout.isTTY) return [head, ...rows].map((row) => row.join('\t')).join('\n');
  const drawn = new Table({
    head: head.map((title) => styled(['bold', 'underline'], title)),
    colAligns: head.map((_, column) => (numeric.includes(column) ? 'right' : 'left')),
    chars: noLines,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 2 },
  });
  for (const row of rows) drawn.push([...row]);
  return drawn.toString();
}

/** Columns stand apart by spaces alone: eight of them fit a terminal. */
const sides = ['top', 'bottom', 'left', 'mid', 'right'];
const lines = sides.flatMap((side) => [side, `${side}-mid`, `${side}-left`, `${side}-right`]);
const noLines = Object.fromEntries([...lines, 'middle'].map((line) => [line, '']));
