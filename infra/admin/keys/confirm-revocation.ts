import { createInterface } from 'node:readline';
import { AdminError } from '../admin-error.ts';
import type { DoomedKey } from './revoke-key.ts';

/** @throws AdminError where the answer is no, or there is nobody to ask */
export async function confirmRevocation({ record, predecessors }: DoomedKey, place: string): Promise<void> {
  const { keyId, name, plan } = record;
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    throw new AdminError(`Revoking ${name} (${keyId}) cannot be undone. Say --yes to go on without being asked.`);
  }
  const also = predecessors.length > 0 ? 'It and the keys that were rotated to it are' : 'Its requests are';
  const answer = await ask(`Revoke ${name} (${keyId}, ${plan}) on ${place}? ${also} refused at once, for good. (y/N) `);
  // The message that follows begins a line of its own.
  if (answer === undefined) process.stderr.write('\n');
  if (!/^y(es)?$/i.test(answer?.trim() ?? '')) throw new AdminError('Nothing was changed.');
}

/** Asks on the terminal. @returns the line that was entered; undefined after Ctrl-C and Ctrl-D */
function ask(question: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    // Standard output is for the result.
    const terminal = createInterface({ input: process.stdin, output: process.stderr });
    let answer: string | undefined;
    terminal.once('close', () => resolve(answer));
    terminal.question(question, (line) => {
      answer = line;
      terminal.close();
    });
  });
}
