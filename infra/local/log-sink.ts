import { createWriteStream, mkdirSync, type WriteStream } from 'node:fs';
import { join } from 'node:path';

/** Takes what a function or the gateway logs. */
export type LogSink = (text: string | Uint8Array) => void;

/** The log groups of the host: a file each in the data folder, or standard error where nothing is kept on disk. */
export class LogGroups {
  readonly #folder: string | undefined;
  readonly #files = new Map<string, WriteStream>();

  constructor(folder: string | undefined) {
    this.#folder = folder;
    if (folder !== undefined) mkdirSync(folder, { recursive: true });
  }

  /** The sink of a log group. */
  sink(name: string): LogSink {
    if (this.#folder === undefined) return (text) => process.stderr.write(text);
    const file = this.#files.get(name) ?? createWriteStream(join(this.#folder, `${name}.log`), { flags: 'a' });
    this.#files.set(name, file);
    return (text) => file.write(text);
  }

  async close(): Promise<void> {
    await Promise.all(
      [...this.#files.values()].map((file) => new Promise<void>((resolve) => void file.end(() => resolve()))),
    );
  }
}
