import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { AdminError } from '../admin-error.ts';
import { visible } from '../text-format.ts';

/** @throws AdminError where the reply is no, or standard input is no terminal */
export async function confirm(question: string): Promise<void> {
  if (!process.stdin.isTTY || !process.stderr.isTTY)
    throw new AdminError(`${question} Say --yes to go on without being asked.`);
  const reply = await ask(`${visible(question)} (y/N) `);
  // The message that follows begins a line of its own.
  if (reply === undefined) process.stderr.write('\n');
  if (!/^y(es)?$/i.test(reply?.trim() ?? '')) throw new AdminError('Nothing was changed.');
}

/**
 * Asks on the terminal.
 *
 * @param isSecret whether what is entered is not to be seen
 * @returns the line that was entered; undefined after Ctrl-C and Ctrl-D
 */
export function ask(question: string, isSecret = false): Promise<string | undefined> {
  return new Promise((resolve) => {
    // Standard output is for the result.
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
