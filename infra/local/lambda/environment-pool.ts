import type { ExecutionEnvironment } from './execution-environment.ts';

/** Environments of all functions together, some 25 MB each. Those beyond a function's first are started up to here. */
const MAX_ENVIRONMENTS = 6;
/** Long enough for requests that are sent by hand: to start one takes a tenth of a second. */
const IDLE_MS = 30_000;

/**
 * The number of execution environments of a host's functions. On AWS there are a thousand; a laptop has memory for a few.
 * Each function may always have one; more only as long as there is room.
 */
export class EnvironmentPool {
  /** How long one stays that has nothing to do. */
  readonly idleMs: number;
  #size = 0;

  constructor(idleMs = IDLE_MS) {
    this.idleMs = idleMs;
  }

  /** How many a function may start beside those that there are. */
  get room(): number {
    return Math.max(0, MAX_ENVIRONMENTS - this.#size);
  }

  /** Whether there are more than should be: a function that has others should end one. */
  get isOver(): boolean {
    return this.#size > MAX_ENVIRONMENTS;
  }

  add(environment: ExecutionEnvironment): void {
    this.#size += 1;
    environment.onEnd(() => {
      this.#size -= 1;
    });
  }
}
