import { appendFileSync } from 'node:fs';
import { join } from 'node:path';

/** Takes what a function or the gateway logs. */
export type LogSink = (text: string | Uint8Array) => void;

/** How long a line may wait for others: a write for each would take a good part of the time of a request. */
const WRITE_DELAY_MS = 50;
/** What may wait before it is written at once, in bytes. */
const MOST_WAITING = 256 * 1024;

/** The log groups of the host, a file each. A standard stream that is not read would stop the host. */
export class LogGroups {
  readonly #folder: string;
  readonly #files = new Map<string, LogFile>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The sink of a log group. What comes after the logs are closed, such as of an answer that was cut off, is dropped. */
  sink(name: string): LogSink {
    const file = this.#files.get(name) ?? new LogFile(join(this.#folder, `${name}.log`));
    this.#files.set(name, file);
    return (text) => file.add(text);
  }

  close(): void {
    for (const file of this.#files.values()) file.close();
  }
}

/** A file to whose end lines are written, many at once. */
class LogFile {
  readonly #path: string;
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(path: string) {
    this.#path = path;
    // The file is there from the start for those who follow it.
    this.#write();
  }

  add(text: string | Uint8Array): void {
    if (this.#isClosed) return;
    const bytes = typeof text === 'string' ? Buffer.from(text) : text;
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
    if (this.#waitingBytes > MOST_WAITING) this.#write();
    else this.#timer ??= setTimeout(() => this.#write(), WRITE_DELAY_MS);
  }

  close(): void {
    if (!this.#isClosed) this.#write();
    this.#isClosed = true;
  }

  #write(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const bytes = Buffer.concat(this.#waiting);
    this.#waiting = [];
    this.#waitingBytes = 0;
    try {
      appendFileSync(this.#path, bytes);
    } catch (error) {
      // A full disk must not stop the service.
      this.#isClosed = true;
      const reason = error instanceof Error ? error.message : String(error);
      process.stderr.write(`The log ${this.#path} ends here: ${reason}\n`);
    }
  }
}
