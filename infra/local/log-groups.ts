import { createWriteStream, renameSync, statSync, type WriteStream } from 'node:fs';
import { join } from 'node:path';
import { writeNotice } from './local-server-error.ts';

/** Max bytes of a file that a start appends to. Of longer files, the last one is kept. */
const MAX_BYTES = 10 * 1024 * 1024;

/** The log groups of the server, a file each. An unread standard stream would block the server. */
export class LogGroups {
  readonly #directory: string;
  readonly #streams = new Map<string, WriteStream>();
  #isClosed = false;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Appends text to a log group. Once the logs are closed, or after a failed write, it is dropped. */
  write(group: string, text: string): void {
    if (!this.#isClosed) (this.#streams.get(group) ?? this.#open(group)).write(text);
  }

  /** Resolves when all lines are in the files. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#streams.values()].map((stream) => new Promise((closed) => stream.close(closed))));
  }

  #open(group: string): WriteStream {
    const file = join(this.#directory, `${group}.log`);
    if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > MAX_BYTES) renameSync(file, `${file}.1`);
    const stream = createWriteStream(file, { flags: 'a' }).on('error', ({ message }) => {
      // A full disk must not stop the service.
      if (!this.#isClosed) writeNotice(`Logging has stopped: ${message}`);
      this.#isClosed = true;
    });
    this.#streams.set(group, stream);
    return stream;
  }
}
