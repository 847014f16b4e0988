import { Level } from 'level';
import { makeFolder, unusable } from '../data-folder.ts';
import { reasonOfLevelFailure } from '../level-failure.ts';

/** How long counts may wait until they are written: what a host that is killed loses at most. */
const SAVE_DELAY_MS = 1_000;

interface Change {
  /** Undefined: deleted. */
  readonly value: unknown;
}

/**
 * Where the gateway's records are kept: JSON values by their key, in a LevelDB folder or nowhere. The working set is
 * in memory elsewhere; this takes its changes and writes those that were made together in one piece.
 */
export class RecordStore {
  readonly #level: Level<string, unknown> | undefined;
  #unsaved = new Map<string, Change>();
  #saving: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;

  private constructor(level?: Level<string, unknown>) {
    this.#level = level;
  }

  /** Keeps nothing. */
  static inMemory(): RecordStore {
    return new RecordStore();
  }

  /** @throws HostError where the folder cannot be used */
  static async open(dataFolder: string): Promise<RecordStore> {
    const level = new Level<string, unknown>(makeFolder(dataFolder, 'gateway'), { valueEncoding: 'json' });
    try {
      await level.open();
    } catch (error) {
      throw unusable(dataFolder, reasonOfLevelFailure(error));
    }
    return new RecordStore(level);
  }

  /** All that is on disk. */
  async entries(): Promise<[key: string, value: unknown][]> {
    return this.#level ? await this.#level.iterator().all() : [];
  }

  put(key: string, value: unknown): void {
    if (this.#level) this.#unsaved.set(key, { value });
  }

  delete(key: string): void {
    this.put(key, undefined);
  }

  /** Waits until all changes so far are on disk. What cannot be written is tried again with the next changes. */
  saved(): Promise<void> {
    const save = (): Promise<void> => this.#save();
    this.#saving = this.#saving.then(save, save);
    return this.#saving;
  }

  /** Has changes written soon, for those that nobody waits for. */
  saveSoon(): void {
    if (!this.#level) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.saved().catch((error: unknown) => {
        process.stderr.write(`The usage of API keys cannot be saved: ${reasonOfLevelFailure(error)}\n`);
      });
    }, SAVE_DELAY_MS);
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    try {
      await this.saved();
    } finally {
      await this.#level?.close();
    }
  }

  async #save(): Promise<void> {
    const changes = this.#unsaved;
    if (!this.#level || changes.size === 0) return;
    this.#unsaved = new Map();
    const operations = [...changes].map(([key, { value }]) =>
      value === undefined ? { type: 'del' as const, key } : { type: 'put' as const, key, value },
    );
    try {
      await this.#level.batch(operations, { sync: true });
    } catch (error) {
      this.#unsaved = new Map([...changes, ...this.#unsaved]);
      throw error;
    }
  }
}
