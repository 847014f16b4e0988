import { createHash, randomUUID } from 'node:crypto';
import { lstatSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { getuid, platform } from 'node:process';
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

/** Deletes what this user's killed servers have left, too: their marks are in the names. */
function makeTemporaryDirectory(): string {
  try {
    for (const name of readdirSync(tmpdir())) {
      const path = join(tmpdir(), name);
      if (!hasEnded(/^pet-store-(\d+-[^-]+)-/.exec(name)?.[1])) continue;
      if (lstatSync(path, { throwIfNoEntry: false })?.uid === getuid?.())
        rmSync(path, { recursive: true, force: true });
    }
    return mkdtempSync(join(tmpdir(), `pet-store-${processMark}-`));
  } catch (error) {
    throw new LocalServerError(
      `The directory for temporary files cannot be used: ${messageOf(error)}. Set TMPDIR to another.`,
    );
  }
}

const pidNamespace = createHash('sha256').update(readPidNamespace()).digest('hex').slice(0, 12);

/** Identifies this process in the names of files. Containers that share a directory may have equal process ids. */
export const processMark = `${process.pid}-${pidNamespace}`;

/** Whether the process with a mark has surely ended. Processes of other containers are not visible here. */
export function hasEnded(mark: string | undefined): boolean {
  const [pid, namespace] = mark?.split('-') ?? [];
  if (namespace !== pidNamespace) return false;
  try {
    return !process.kill(Number(pid), 0);
  } catch (error) {
    // Not EPERM: another user's process may not be signaled.
    return String(error).includes('ESRCH');
  }
}

/** What process ids are unique in: a container on a running kernel; a host where there are no such containers. */
function readPidNamespace(): string {
  if (platform !== 'linux') return hostname();
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8') + readlinkSync('/proc/self/ns/pid');
  } catch {
    // Unknown, so no other process is in it.
    return randomUUID();
  }
}
