import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { HostError } from './host-error.ts';

/** Makes a folder in the data folder, if it is not there yet. @throws HostError where that cannot be */
export function makeFolder(dataFolder: string, name: string): string {
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
