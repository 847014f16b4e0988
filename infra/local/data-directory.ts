import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { messageOf } from '../../shared/log.ts';
import { HostError } from './host-error.ts';

/** Of what the host keeps. To be raised whenever it no longer understands what it has kept before. */
const FORMAT = 5;

const FORMAT_FILE = 'format';

/** Keys and logs are in there. */
const FOR_OWNER_ONLY = 0o700;

/** What is in a data folder, today or of old, beside its mark and the logs. */
const dataKinds: ReadonlySet<string> = new Set(['dynamodb', 'gateway', 'gateway.json']);

/**
 * Makes the data folder, if it is not there yet, and marks it with the format of what will be in it.
 *
 * @throws HostError where it has data of another format, or cannot be used
 */
export function openDataDirectory(dataDirectory: string): void {
  const formatFile = join(makeDirectory(dataDirectory, ''), FORMAT_FILE);
  try {
    const names = readdirSync(dataDirectory);
    if (names.includes(FORMAT_FILE) && readFileSync(formatFile, 'utf8').trim() === String(FORMAT)) return;
    // Comes before all data: a host that is killed here leaves an empty folder, and no data without a mark.
    if (!names.some((name) => dataKinds.has(name))) return writeFileSync(formatFile, `${FORMAT}\n`);
  } catch (error) {
    throw unusable(dataDirectory, messageOf(error));
  }
  throw new HostError(
    `The data folder ${dataDirectory} was written by another version of the service. Delete it, or choose another with --data.`,
  );
}

/** Makes a folder in the data folder, if missing, for its owner alone. @throws HostError where that cannot be */
export function makeDirectory(dataDirectory: string, name: 'dynamodb' | 'logs' | ''): string {
  const directory = join(dataDirectory, name);
  try {
    makeWithParents(directory);
    return directory;
  } catch (error) {
    throw unusable(dataDirectory, messageOf(error));
  }
}

/** The file of API Gateway's state. It is there once a host has started: its tables are, too. */
export const stateFile = (dataDirectory: string): string => join(dataDirectory, 'gateway.json');

/** Node.js, asked for the parents too, gives a wrong reason in a read-only folder and never returns in `/proc`. */
function makeWithParents(directory: string): void {
  if (existsSync(directory)) return;
  makeWithParents(dirname(directory));
  mkdirSync(directory, { mode: FOR_OWNER_ONLY });
}

/** @param reason of the system, or of LevelDB */
export function unusable(dataDirectory: string, reason: string): HostError {
  const remedy = /lock .*LOCK: /.test(reason)
    ? 'Another host is running on it: stop that'
    : 'Fix that, or restore or delete what is damaged';
  return new HostError(
    `The data folder ${dataDirectory} cannot be used: ${reason}. ${remedy}, or choose another with --data.`,
  );
}
