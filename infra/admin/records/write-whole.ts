import { renameSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { AdminError, reasonOf } from '../admin-error.ts';

/**
 * Writes a file that appears, or is replaced, only when it is complete.
 *
 * @param soFar how much was written, in words
 * @throws AdminError where the file cannot be written, or the text breaks off
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
      throw new AdminError(`${stopped}. ${file} is as it was; run the same command again.`);
    }
  } finally {
    removePart();
    process.off('exit', removePart);
  }
}
