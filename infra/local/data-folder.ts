import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { HostError } from './host-error.ts';

/** Of what the host keeps. To be raised whenever it no longer understands what it has kept before. */
const FORMAT = 2;

const FORMAT_FILE = 'format';

type DataKind = 'dynamodb' | 'gateway';

const dataKinds: readonly DataKind[] = ['dynamodb', 'gateway'];

/**
 * Makes the data folder, if it is not there yet, and marks it with the format of what will be in it.
 *
 * @throws HostError where it has data of another format, or cannot be used
 */
export function openDataFolder(dataFolder: string): void {
  const formatFile = join(makeFolder(dataFolder, ''), FORMAT_FILE);
  try {
    if (existsSync(formatFile) && readFileSync(formatFile, 'utf8').trim() === String(FORMAT)) return;
    if (dataKinds.some((kind) => existsSync(join(dataFolder, kind)))) {
      throw new HostError(
        `The data folder ${dataFolder} was written by another version of the service. Delete it, or choose another with --data.`,
      );
    }
    // Comes before all data: a host that is killed here leaves an empty folder, and no data without a mark.
    writeFileSync(formatFile, `${FORMAT}\n`);
  } catch (error) {
    if (error instanceof HostError) throw error;
    throw unusable(dataFolder, error instanceof Error ? error.message : String(error));
  }
}

/** Makes a folder in the data folder, if it is not there yet. @throws HostError where that cannot be */
export function makeFolder(dataFolder: string, name: DataKind | 'logs' | ''): string {
  const folder = join(dataFolder, name);
  try {
    mkdirSync(folder, { recursive: true });
    return folder;
  } catch (error) {
    throw unusable(dataFolder, error instanceof Error ? error.message : String(error));
  }
}

export function unusable(dataFolder: string, reason: string): HostError {
  return new HostError(`The data folder ${dataFolder} cannot be used: ${reason}. Choose another with --data.`);
}
