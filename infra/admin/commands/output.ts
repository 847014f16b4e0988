import { styleText } from 'node:util';
import { Presets, SingleBar } from 'cli-progress';
import Table from 'cli-table3';
import type { OnProgress } from '../records/record-kinds.ts';
import type { ProgressListener } from '../target.ts';
import { formatNumber, visible, withTarget } from '../text-format.ts';

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

/** Shows a bar on standard error, where that is a terminal. After Ctrl-C the command ends, and says what to do. */
export async function withProgress<Result>(
  doing: string,
  work: (onProgress: OnProgress) => Promise<Result>,
): Promise<Result> {
  const format = `${doing} {bar} {percentage}% | {value} of {total} | {eta_formatted} left`;
  const bar = new SingleBar({ format, formatValue: formatNumber, stream: process.stderr }, Presets.shades_classic);
  const stop = (): never => {
    bar.stop();
    process.stderr.write('Interrupted. Run the same command again to complete it.\n');
    // What a shell expects of a program that was interrupted; `exit` listeners still run.
    process.exit(130);
  };
  process.once('SIGINT', stop);
  try {
    return await work((done, total) => {
      if (total === 0) return;
      if (!bar.isActive) bar.start(total, done);
      bar.setTotal(total);
      bar.update(done);
    });
  } finally {
    process.off('SIGINT', stop);
    bar.stop();
  }
}

/** Text in a colour, where standard output is a terminal that has it. */
export function styled(style: Style, text: string): string {
  return styleText(style, text, { stream: process.stdout });
}

/** Rows under a head: in columns on a terminal; in a pipe with tabs between the values, which `cut` and `awk` take. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  if (!process.stdout.isTTY) return [head, ...rows].map((row) => row.join('\t')).join('\n');
  return inColumns([head.map((title) => styled(['bold', 'underline'], title)), ...rows]);
}

/** Values under each other, each beside its title. */
export const list = (values: Readonly<Record<string, string>>): string =>
  inColumns(Object.entries(values).map(([title, value]) => [styled('bold', title), value]));

/** Columns stand apart by spaces alone. */
const sides = ['top', 'bottom', 'left', 'mid', 'right'];
const lines = ['middle', ...sides.flatMap((side) => [side, `${side}-mid`, `${side}-left`, `${side}-right`])];
const chars = Object.fromEntries(lines.map((line) => [line, '']));

function inColumns(rows: readonly (readonly string[])[]): string {
  const drawn = new Table({ chars, style: { head: [], border: [], 'padding-left': 0, 'padding-right': 2 } });
  for (const row of rows) drawn.push([...row]);
  const text = drawn.toString().split('\n');
  return text.map((line) => line.trimEnd()).join('\n');
}
