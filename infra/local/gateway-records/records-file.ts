import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '../data-folder.ts';

/** How long counts may wait until they are written: what a host that is killed loses at most. */
const SAVE_DELAY_MS = 1_000;

/** A JSON file that is written whole: a host that is killed leaves the one before or the one after. */
export class RecordsFile {
  readonly #file: string;
  readonly #content: () => unknown;
  #isChanged = false;
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

  /** Writes all changes so far. What cannot be written is tried again with the next changes. */
  save(): void {
    if (!this.#isChanged) return;
    writeFileSync(`${this.#file}.new`, JSON.stringify(this.#content()));
    renameSync(`${this.#file}.new`, this.#file);
    this.#isChanged = false;
  }

  /** Has changes written soon, for those that nobody waits for. */
  saveSoon(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      try {
        this.save();
      } catch (error) {
        process.stderr.write(`The usage of API keys is not saved: ${String(error)}\n`);
      }
    }, SAVE_DELAY_MS);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.save();
  }
}
