import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';

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
