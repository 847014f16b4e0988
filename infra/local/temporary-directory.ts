import { lstatSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getuid } from 'node:process';
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

/** Deletes what this user's killed servers have left, too: their process ids are in the names. */
function makeTemporaryDirectory(): string {
  try {
    for (const name of readdirSync(tmpdir())) {
      const path = join(tmpdir(), name);
      const pid = /^pet-store-(\d+)-/.exec(name)?.[1];
      if (pid === undefined || isRunning(Number(pid))) continue;
      if (lstatSync(path, { throwIfNoEntry: false })?.uid === getuid?.())
        rmSync(path, { recursive: true, force: true });
    }
    return mkdtempSync(join(tmpdir(), `pet-store-${process.pid}-`));
  } catch (error) {
    throw new LocalServerError(
      `The directory for temporary files cannot be used: ${messageOf(error)}. Set TMPDIR to another.`,
    );
  }
}

/** Whether a process with this id exists. */
export function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // Another user's process may not be signaled.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
