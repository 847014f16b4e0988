import confirm from '@inquirer/confirm';
import { AdminError } from '../admin-error.ts';
import type { DoomedKey } from './revoke-key.ts';

/** Asks on the terminal. @throws AdminError where the answer is no, or there is nobody to ask */
export async function confirmRevocation({ record, predecessors }: DoomedKey, place: string): Promise<void> {
  const { keyId, name, plan } = record;
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    throw new AdminError(`Revoking ${name} (${keyId}) cannot be undone. Say --yes to go on without being asked.`);
  }
  const also = predecessors.length > 0 ? 'It and the keys that were rotated to it are' : 'Its requests are';
  const message = `Revoke ${name} (${keyId}, ${plan}) on ${place}? ${also} refused at once, for good.`;
  // Standard output is for the result.
  const isSure = await confirm({ message, default: false }, { output: process.stderr }).catch(refuseOnInterrupt);
  if (!isSure) throw new AdminError('Nothing was changed.');
}

/** Ctrl-C is a no. */
function refuseOnInterrupt(error: unknown): false {
  if (error instanceof Error && error.name === 'ExitPromptError') return false;
  throw error;
}
