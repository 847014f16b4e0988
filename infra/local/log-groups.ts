import { appendFileSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '../../shared/log.ts';
import { writeNotice } from './host-error.ts';

/** How long a line is buffered: single writes would slow requests considerably. */
const WRITE_DELAY_MS = 50;
/** Max bytes of a file before rotation. Only one older file is kept. */
const MAX_BYTES = 10 * 1024 * 1024;

/** The log groups of the server, a file each. An unread standard stream would block the server. */
export class LogGroups {
  readonly #directory: string;
  readonly #waiting = new Map<string, string>();
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Appends text to a log group. Once the logs are closed, or after a failed write, it is dropped. */
  write(group: string, text: string): void {
    if (this.#isClosed) return;
    this.#waiting.set(group, (this.#waiting.get(group) ?? '') + text);
    this.#timer ??= setTimeout(() => this.#flush(), WRITE_DELAY_MS);
  }

  close(): void {
    this.#flush();
    this.#isClosed = true;
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    try {
      for (const [group, text] of this.#waiting) append(join(this.#directory, `${group}.log`), text);
    } catch (error) {
      // A full disk must not stop the service.
      this.#isClosed = true;
      writeNotice(`Logging has stopped: ${messageOf(error)}`);
    }
    this.#waiting.clear();
  }
}

function append(file: string, text: string): void {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size > MAX_BYTES) renameSync(file, `${file}.1`);
  appendFileSync(file, text);
}
