import { styleText } from 'node:util';
import Table from 'cli-table3';

export interface OutputOptions {
  /** One JSON value on standard output, and nothing else. */
  readonly json: boolean;
}

type Style = Parameters<typeof styleText>[0];

/** Prints what a command has to say: as JSON for scripts, else as text for people. */
export function print({ json }: OutputOptions, value: unknown, text: () => string): void {
  process.stdout.write(`${json ? JSON.stringify(value) : text()}\n`);
}

/** Says on standard error what was left out of a result, and why. */
export function warn({ message }: Error): void {
  process.stderr.write(`${message}\n`);
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
const noLines = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: '',
};

/** `1,000`. */
export const number = (value: number): string => value.toLocaleString('en');

/** `0.6 %`. */
export const percent = (share: number): string =>
  `${(share * 100).toLocaleString('en', { minimumFractionDigits: 1, maximumFractionDigits: 1 })} %`;

/** `2026-11-21 12:30 UTC`. */
export const time = (iso: string): string => `${iso.slice(0, 16).replace('T', ' ')} UTC`;
