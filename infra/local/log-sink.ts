import { createWriteStream, type WriteStream } from 'node:fs';
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
  }

  /** The sink of a log group. */
  sink(name: string): LogSink {
    const file = this.#files.get(name) ?? this.#open(name);
    // What ends after the logs are closed, such as an answer that was cut off, has no line.
    return (text) => void (file.writableEnded || file.write(text));
  }

  #open(name: string): WriteStream {
    const file = createWriteStream(join(this.#folder, `${name}.log`), { flags: 'a' });
    // A full disk must not stop the service; whoever looks for the log finds out why it ends.
    file.once('error', (error) => process.stderr.write(`The log ${name} ends here: ${error.message}\n`));
    this.#files.set(name, file);
    return file;
  }

  async close(): Promise<void> {
    await Promise.all(
      [...this.#files.values()].map((file) => new Promise<void>((resolve) => void file.end(() => resolve()))),
    );
  }
}
