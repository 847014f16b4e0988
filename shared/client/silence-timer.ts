/** Aborts a request of which nothing is heard for too long. */
export class SilenceTimer {
  readonly #milliseconds: number;
  readonly #controller = new AbortController();

  constructor(milliseconds: number) {
    this.#milliseconds = milliseconds;
  }

  /** Aborts when the time is over. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Whether it has aborted the request. */
  get isOver(): boolean {
    return this.#controller.signal.aborted;
  }

  /** Lets the timer run while the work is waited for. The work must end with the signal. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    const timer = setTimeout(() => this.#controller.abort(), this.#milliseconds);
    try {
      return await work();
    } finally {
      clearTimeout(timer);
    }
  }
}
