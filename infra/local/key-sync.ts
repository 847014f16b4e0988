/** Something that runs an event, such as a Lambda function. */
export interface Invocable {
  /** @param event JSON text */
  invoke(event: string): Promise<string>;
}

export interface KeySyncSettings {
  readonly sync: Invocable;
  /** Milliseconds between two syncs where nothing changes. */
  readonly periodMs: number;
  /** How long a change waits for more of them. */
  readonly waitMs: number;
  /** Told of each sync that fails. The next one makes up for it. */
  readonly log: (line: string) => void;
}

/** The sync looks at everything, whatever the batch of its queue says. */
const BATCH = JSON.stringify({ Records: [] });

/** Runs the sync of keys on its schedule and after changes, one at a time. */
export class KeySync {
  readonly #settings: KeySyncSettings;
  #schedule: NodeJS.Timeout | undefined;
  #next: NodeJS.Timeout | undefined;
  #isUnderWay = false;
  #isClosed = false;

  constructor(settings: KeySyncSettings) {
    this.#settings = settings;
  }

  startSchedule(): void {
    this.#schedule = setInterval(() => this.runSoon(), this.#settings.periodMs);
  }

  /** Runs one sync for all calls that come before it begins. */
  runSoon(): void {
    if (this.#isClosed) return;
    this.#next ??= setTimeout(() => void this.#run(), this.#settings.waitMs);
  }

  /** Starts no more syncs; the one under way is the function's to end. */
  close(): void {
    this.#isClosed = true;
    clearInterval(this.#schedule);
    clearTimeout(this.#next);
  }

  async #run(): Promise<void> {
    this.#next = undefined;
    // The one under way may have read what has changed since.
    if (this.#isUnderWay) return this.runSoon();
    this.#isUnderWay = true;
    try {
      await this.#settings.sync.invoke(BATCH);
    } catch (error) {
      if (!this.#isClosed) this.#settings.log(`The sync of keys failed: ${String(error)}`);
    } finally {
      this.#isUnderWay = false;
    }
  }
}
