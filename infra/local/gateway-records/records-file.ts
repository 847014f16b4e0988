import { existsSync, readFileSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '../data-folder.ts';

/** How long counts may wait until they are written: what a host that is killed loses at most. */
const SAVE_DELAY_MS = 1_000;

/** A JSON file that is written whole: a host that is killed leaves the one before or the one after. */
export class RecordsFile {
  readonly #file: string;
  readonly #content: () => unknown;
  #isChanged = false;
  #saving: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;

  /**
   * @param content what is to be written, asked for each time
   * @throws HostError where the folder cannot be used
   */
  constructor(dataFolder: string, content: () => unknown) {
    this.#file = join(makeFolder(dataFolder, ''), 'gateway.json');
    this.#content = content;
  }

  /** What was written last; undefined where nothing was. @throws Error where it cannot be read */
  read(): unknown {
    return existsSync(this.#file) ? JSON.parse(readFileSync(this.#file, 'utf8')) : undefined;
  }

  changed(): void {
    this.#isChanged = true;
  }

  /** Waits until all changes so far are on disk. What cannot be written is tried again with the next changes. */
  saved(): Promise<void> {
    const save = (): Promise<void> => this.#save();
    this.#saving = this.#saving.then(save, save);
    return this.#saving;
  }

  /** Has changes written soon, for those that nobody waits for. */
  saveSoon(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.saved().catch((error: unknown) =>
        process.stderr.write(`The usage of API keys is not saved: ${String(error)}\n`),
      );
    }, SAVE_DELAY_MS);
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    await this.saved();
  }

  async #save(): Promise<void> {
    if (!this.#isChanged) return;
    this.#isChanged = false;
    const written = `${this.#file}.new`;
    try {
      const handle = await open(written, 'w');
      try {
        await handle.writeFile(JSON.stringify(this.#content()));
        await handle.sync();
      } finally {
        await handle.close();
      }
      await rename(written, this.#file);
    } catch (error) {
      this.#isChanged = true;
      throw error;
    }
  }
}
