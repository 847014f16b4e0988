import { createWriteStream, mkdirSync, type WriteStream } from 'node:fs';
import { join } from 'node:path';

/** Takes what a function or the gateway logs. */
export type LogSink = (text: string | Uint8Array) => void;

/**
 * The log groups of the host, a file each. Never a standard stream: whoever started the host may not read it, and a
 * full pipe would stop the host.
 */
export class LogGroups {
  readonly #folder: string;
  readonly #files = new Map<string, WriteStream>();

  constructor(folder: string) {
    this.#folder = folder;
    mkdirSync(folder, { recursive: true });
  }

  /** The sink of a log group. */
  sink(name: string): LogSink {
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
