import type { EventTarget } from './event-bus.ts';
import type { Invocable } from './event-source-mapping.ts';

/** Waits before the second and the third try. Lambda's are a minute and two: too long to watch on a laptop. */
const RETRY_DELAYS_MS = [1_000, 2_000] as const;

/** Invokes a function with an event and waits for nothing; a failure is tried again twice, as Lambda does. */
export class AsynchronousInvocation implements EventTarget {
  readonly #target: Invocable;
  readonly #functionName: string;
  readonly #log: (line: string) => void;
  readonly #timers = new Set<NodeJS.Timeout>();
  #closed = false;

  constructor(target: Invocable, functionName: string, log: (line: string) => void) {
    this.#target = target;
    this.#functionName = functionName;
    this.#log = log;
  }

  deliver(event: string): void {
    void this.#attempt(event, 0);
  }

  /** Tries nothing again. */
  close(): void {
    this.#closed = true;
    for (const timer of this.#timers) clearTimeout(timer);
  }

  async #attempt(event: string, retries: number): Promise<void> {
    try {
      await this.#target.invoke(event);
    } catch (error) {
      if (this.#closed) return;
      const delay = RETRY_DELAYS_MS[retries];
      const next = delay === undefined ? 'the event is dropped' : 'it is tried again';
      this.#log(`${this.#functionName} failed on an event, ${next}: ${String(error)}`);
      if (delay !== undefined) this.#retry(event, retries + 1, delay);
    }
  }

  #retry(event: string, retries: number, delay: number): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      void this.#attempt(event, retries);
    }, delay);
    this.#timers.add(timer);
  }
}
