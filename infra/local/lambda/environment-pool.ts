import type { ExecutionEnvironment } from './execution-environment.ts';

/** Environments of all functions together, some 25 MB each. Those beyond a function's first are started up to here. */
const MAX_ENVIRONMENTS = 6;
/** Long enough for requests that are sent by hand: to start one takes a tenth of a second. */
const IDLE_MS = 30_000;

/**
 * The execution environments of a host's functions. On AWS there are a thousand; a laptop has memory for a few. Each
 * function may always have one; more only as long as there is room.
 */
export class EnvironmentPool {
  readonly #all = new Set<ExecutionEnvironment>();
  /** With the times since when, by the process's clock; the longest first. */
  readonly #idle = new Map<ExecutionEnvironment, number>();
  readonly #idleMs: number;
  #timer: NodeJS.Timeout | undefined;

  /** @param idleMs how long one stays that has nothing to do */
  constructor(idleMs = IDLE_MS) {
    this.#idleMs = idleMs;
  }

  /** How many a function may start beside those that there are. */
  get room(): number {
    return Math.max(0, MAX_ENVIRONMENTS - this.#all.size);
  }

  /** Whether there are more than should be: a function that has others should end one. */
  get isOver(): boolean {
    return this.#all.size > MAX_ENVIRONMENTS;
  }

  add(environment: ExecutionEnvironment): void {
    this.#all.add(environment);
    environment.onEnd(() => {
      this.#all.delete(environment);
      this.#idle.delete(environment);
    });
  }

  /** It has nothing to do from now on. It ends after a while, unless it is needed before. */
  rest(environment: ExecutionEnvironment): void {
    this.#idle.set(environment, performance.now());
    if (this.#timer === undefined) this.#endIdleAfter(this.#idleMs);
  }

  wake(environment: ExecutionEnvironment): void {
    this.#idle.delete(environment);
  }

  #endIdleAfter(milliseconds: number): void {
    this.#timer = setTimeout(() => this.#endIdle(), milliseconds).unref();
  }

  #endIdle(): void {
    const now = performance.now();
    const tooLong = [...this.#idle].filter(([, since]) => now - since >= this.#idleMs);
    for (const [environment] of tooLong) void environment.stop();
    const [since] = this.#idle.values();
    if (since === undefined) this.#timer = undefined;
    else this.#endIdleAfter(Math.ceil(since + this.#idleMs - now));
  }
}
