import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { messageOf } from '../../shared/log.ts';
import { LocalServerError } from './local-server-error.ts';

/** Format of the stored data. Increase it if a new version cannot read older data. */
const FORMAT = 6;

/** Contents of a data directory, of any version, other than its format file and the logs. */
const dataKinds = new Set(['dynamodb', 'gateway', 'gateway.json']);

/**
 * Creates the data directory, if missing, and writes its format file.
 *
 * @throws LocalServerError if it has data of another format, or cannot be used
 */
export function openDataDirectory(dataDirectory: string): void {
  const formatFile = join(makeDirectory(dataDirectory, ''), 'format');
  let format = 'unknown';
  try {
    if (existsSync(formatFile)) format = readFileSync(formatFile, 'utf8').trim().slice(0, 20);
    if (format === String(FORMAT)) return;
    // Before all data: a server killed here leaves an empty directory, and no data without a format file.
    if (!readdirSync(dataDirectory).some((name) => dataKinds.has(name)))
      return writeFileSync(formatFile, `${FORMAT}\n`);
  } catch (error) {
    throw unusable(dataDirectory, messageOf(error));
  }
  throw new LocalServerError(
    `The data directory ${dataDirectory} has the format ${format} of another version of the service; this one has ${FORMAT}. ` +
      'It may have stock, pets, orders, API keys, their usage and logs. Choose another with --data. To keep stock, pets ' +
      'and orders, start the version that wrote it, run npm run admin -- inventory export FILE, likewise for pets and ' +
      'orders, and import the files here. API keys and usage cannot be copied: create new keys with npm run admin -- ' +
      'keys create, and delete the directory when no key of it is needed.',
  );
}

/** Creates a directory in the data directory, if missing, for its owner only. @throws LocalServerError if that fails */
export function makeDirectory(dataDirectory: string, name: 'dynamodb' | 'logs' | ''): string {
  const directory = join(dataDirectory, name);
  try {
    // For its owner only: it contains keys and logs.
    makeWithParents(directory, 0o700);
    // It may be a file.
    readdirSync(directory);
    return directory;
  } catch (error) {
    throw unusable(dataDirectory, messageOf(error));
  }
}

/** Whether LevelDB has created its store in a directory. It writes such files only afterwards. */
export const hasStore = (directory: string): boolean =>
  readdirSync(directory).some((name) => name.endsWith('.log') || name.endsWith('.ldb'));

/** Node.js's `recursive` reports a wrong reason in a read-only directory and never returns in `/proc`. */
export function makeWithParents(directory: string, mode?: number): void {
  if (existsSync(directory)) return;
  makeWithParents(dirname(directory), mode);
  mkdirSync(directory, { mode });
}

/** @param reason of the system, or of LevelDB */
export function unusable(dataDirectory: string, reason: string): LocalServerError {
  const remedy = /lock .*LOCK: /.test(reason)
    ? 'Another local server uses it: stop that one'
    : 'Fix the cause, or restore or delete damaged files';
  return new LocalServerError(
    `The data directory ${dataDirectory} cannot be used: ${reason}. ${remedy}, or choose another with --data.`,
  );
}

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
