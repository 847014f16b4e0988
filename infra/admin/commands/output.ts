import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { styleText } from 'node:util';
import { Presets, SingleBar } from 'cli-progress';
import Table from 'cli-table3';
import type { OnProgress } from '../records/record-kinds.ts';
import { AdminError } from '../service/failures.ts';
import type { Target } from '../service/target.ts';
import { formatNumber, visible, withTarget } from '../service/text.ts';

type Style = Parameters<typeof styleText>[0];

/** Reports on standard error, once for a series, as of an import. @param option that selects the service */
export function reporter(option: string): Target['report'] {
  let last: string | undefined;
  return (message) => {
    if (message !== last) process.stderr.write(`${withTarget(visible(message), option)}\n`);
    last = message;
  };
}

/** Shows a progress bar if standard error is a terminal. Ctrl-C ends the command with a message. */
export async function withProgress<Result>(
  doing: string,
  work: (onProgress: OnProgress) => Promise<Result>,
): Promise<Result> {
  const format = `${doing} {bar} {percentage}% | {value} of {total} | {eta_formatted} left`;
  const bar = new SingleBar({ format, formatValue: formatNumber, stream: process.stderr }, Presets.shades_classic);
  const stop = (): never => {
    bar.stop();
    process.stderr.write('Interrupted. Run the same command again to complete it.\n');
    // The exit status that shells expect after an interrupt; `exit` listeners still run.
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

/** @throws AdminError if the admin declines, or standard input is not a terminal */
export async function confirm(question: string): Promise<void> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) throw new AdminError(`${question} Pass --yes to confirm.`);
  const reply = await ask(`${visible(question)} (y/N) `);
  // The next message starts on its own line.
  if (reply === undefined) process.stderr.write('\n');
  if (!/^y(es)?$/i.test(reply?.trim() ?? '')) throw new AdminError('Nothing was changed.');
}

/** Asks on the terminal; a secret is not shown. @returns the line, or undefined after Ctrl-C or Ctrl-D */
export function ask(question: string, isSecret = false): Promise<string | undefined> {
  return new Promise((resolve) => {
    // Standard output is reserved for the result.
    const output = isSecret ? new Writable({ write: (_chunk, _encoding, done) => done() }) : process.stderr;
    const terminal = createInterface({ input: process.stdin, output, terminal: true });
    if (isSecret) process.stderr.write(question);
    terminal.once('close', () => resolve(undefined));
    terminal.question(isSecret ? '' : question, (line) => {
      if (isSecret) process.stderr.write('\n');
      resolve(line);
      terminal.close();
    });
  });
}

export const styled = (style: Style, text: string): string => styleText(style, text, { stream: process.stdout });

/** Formats rows with a header: aligned columns on a terminal, tab-separated values in a pipe. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  if (!process.stdout.isTTY) return [head, ...rows].map((row) => row.join('\t')).join('\n');
  return inColumns([head.map((title) => styled(['bold', 'underline'], title)), ...rows]);
}

export const list = (values: Readonly<Record<string, string>>): string =>
  inColumns(Object.entries(values).map(([title, value]) => [styled('bold', title), value]));

/** Table borders: none. */
const sides = ['top', 'bottom', 'left', 'mid', 'right'];
const lines = ['middle', ...sides.flatMap((side) => [side, `${side}-mid`, `${side}-left`, `${side}-right`])];
const chars = Object.fromEntries(lines.map((line) => [line, '']));

function inColumns(rows: readonly (readonly string[])[]): string {
  const drawn = new Table({ chars, style: { head: [], border: [], 'padding-left': 0, 'padding-right': 2 } });
  for (const row of rows) drawn.push([...row]);
  const text = drawn.toString().split('\n');
  return text.map((line) => line.trimEnd()).join('\n');
}
