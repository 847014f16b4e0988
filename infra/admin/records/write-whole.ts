import { renameSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { AdminError, reasonOf } from '../service/failures.ts';

/**
 * Writes a file that is created or replaced only when it is complete.
 *
 * @param soFar describes the progress
 * @throws AdminError if the file cannot be written, or the text cannot be read
 */
export async function writeWhole(file: string, text: AsyncIterable<string>, soFar: () => string): Promise<void> {
  const part = `${file}.part`;
  const removePart = (): void => rmSync(part, { force: true });
  process.once('exit', removePart);
  try {
    const output = await open(part, 'w').catch((error: unknown) => {
      throw new AdminError(`Cannot write ${file}: ${reasonOf(error)}.`);
    });
    try {
      await pipeline(text, output.createWriteStream({ flush: true }));
      renameSync(part, file);
    } catch (error) {
      const stopped = `The export stopped after ${soFar()}: ${reasonOf(error)}`;
      throw new AdminError(`${stopped}. ${file} is unchanged. Run the same command again.`);
    }
  } finally {
    removePart();
    process.off('exit', removePart);
  }
}
