import { stripVTControlCharacters, styleText } from 'node:util';
import type { OnProgress } from '../records/record-kinds.ts';
import type { ProgressListener } from '../target.ts';
import { formatNumber, visible, withTarget } from '../text-format.ts';

/** Spaces between two columns. */
const GAP = 2;

type Style = Parameters<typeof styleText>[0];

/** Reports on standard error what a command waits for, and what it leaves out. @param option that names the service */
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
 * Shows on standard error, where that is a terminal, how far work has come. After Ctrl-C the command ends, and says what
 * to do.
 */
export async function withProgress<Result>(
  doing: string,
  work: (onProgress: OnProgress) => Promise<Result>,
): Promise<Result> {
  let lineEnd = '';
  const show: OnProgress = (done, total) => {
    if (!process.stderr.isTTY) return;
    process.stderr.write(`\r${doing}: ${formatNumber(done)} of ${formatNumber(total)}`);
    lineEnd = '\n';
  };
  const stop = (): never => {
    process.stderr.write(`${lineEnd}Interrupted. Run the same command again to complete it.\n`);
    // What a shell expects of a program that was interrupted; `exit` listeners still run.
    process.exit(130);
  };
  process.once('SIGINT', stop);
  try {
    return await work(show);
  } finally {
    process.off('SIGINT', stop);
    process.stderr.write(lineEnd);
  }
}

/** Text in a colour, where standard output is a terminal that has it. */
export function styled(style: Style, text: string): string {
  return styleText(style, text, { stream: process.stdout });
}

/** Rows under a head: in columns on a terminal; in a pipe with tabs between the values, which `cut` and `awk` take. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  if (!process.stdout.isTTY) return [head, ...rows].map((row) => row.join('\t')).join('\n');
  const titles = head.map((title) => styled(['bold', 'underline'], title));
  const widths = head.map((_, column) => longest([head, ...rows].map((row) => row[column] ?? '')));
  const line = (row: readonly string[]): string => row.map((cell, at) => padded(cell, widths[at] ?? 0)).join('');
  return [titles, ...rows].map((row) => line(row).trimEnd()).join('\n');
}

/** Values under each other, each beside its title. */
export function list(values: Readonly<Record<string, string>>): string {
  const width = longest(Object.keys(values));
  return Object.entries(values)
    .map(([title, value]) => styled('bold', padded(title, width)) + value)
    .join('\n');
}

/** As it is seen: a colour takes no room. */
const widthOf = (text: string): number => stripVTControlCharacters(text).length;

const padded = (text: string, width: number): string => text + ' '.repeat(width + GAP - widthOf(text));

/** Of any number of texts: those of ten thousand keys are too many arguments for `Math.max`. */
const longest = (texts: readonly string[]): number => texts.reduce((most, text) => Math.max(most, widthOf(text)), 0);
