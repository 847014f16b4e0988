import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { messageOf } from '../../shared/log.ts';
import { LocalServerError } from './local-server-error.ts';

/** A temporary directory, deleted when the server stops. @throws LocalServerError if it cannot be created */
export function temporaryDirectory(closings: AsyncDisposableStack): string {
  const directory = makeTemporaryDirectory();
  const remove = (): void => rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
  // For a server that is stopped before it has started.
  process.once('exit', remove);
  closings.defer(() => {
    process.off('exit', remove);
    remove();
  });
  return directory;
}

function makeTemporaryDirectory(): string {
  try {
    return mkdtempSync(join(tmpdir(), 'pet-store-'));
  } catch (error) {
    throw new LocalServerError(
      `The directory for temporary files cannot be used: ${messageOf(error)}. Set TMPDIR to another.`,
    );
  }
}
