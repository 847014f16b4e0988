import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { AdminError } from '../service/failures.ts';
import { visible } from '../service/text.ts';

/** @throws AdminError if the admin declines, or standard input is not a terminal */
export async function confirm(question: string): Promise<void> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) throw new AdminError(`${question} Pass --yes to confirm.`);
  const reply = await ask(`${visible(question)} (y/N) `);
  // The next message starts on its own line.
  if (reply === undefined) process.stderr.write('\n');
  if (!/^y(es)?$/i.test(reply?.trim() ?? '')) throw new AdminError('Nothing was changed.');
}

/**
 * Asks on the terminal.
 *
 * @param isSecret whether to hide the input
 * @returns the line, or undefined after Ctrl-C or Ctrl-D
 */
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
