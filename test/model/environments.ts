import type { Random } from '../support/random.ts';
import type { Caller } from './virtual-dynamodb.ts';
import type { VirtualTime } from './virtual-time.ts';

export interface Invocation<Result> {
  readonly environment: number;
  readonly invokedAt: number;
  /** `Infinity`: never. */
  respondedAt: number;
  /** Calls of the environment that failed meanwhile, and those of them whose response was lost. */
  faults: number;
  lost: number;
  /** `failed`: an error was thrown. */
  outcome: Result | { readonly kind: 'failed'; readonly error: unknown };
}

interface Environment {
  readonly index: number;
  readonly caller: Caller;
}

/** The execution environments of a function, as Lambda has them: each has one request at a time. */
export class Environments {
  readonly #time: VirtualTime;
  readonly #random: Random;
  /** The one that was used last comes last. */
  readonly #free: Environment[];
  readonly #waiting: (() => void)[] = [];
  readonly #count: number;
  #maxBusy = 0;

  constructor(time: VirtualTime, random: Random, count: number) {
    this.#time = time;
    this.#random = random;
    this.#count = count;
    this.#free = Array.from({ length: count }, (_, index) => ({
      index,
      caller: { lastCallAt: time.now, faults: 0, lost: 0 },
    }));
  }

  /** The most that had a request at the same time. */
  get maxBusy(): number {
    return this.#maxBusy;
  }

  /**
   * Hands a request to the environment used last, or to any; it waits until one is free.
   *
   * @returns once it is answered
   */
  async invoke<Result>(
    isRecent: boolean,
    handle: (environment: Environment, invocation: Invocation<Result>) => Promise<Result>,
  ): Promise<void> {
    while (this.#free.length === 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    const last = this.#free.length - 1;
    const [environment] = this.#free.splice(isRecent ? last : this.#random.below(last + 1), 1);
    if (!environment) throw new Error('No environment is free');
    this.#maxBusy = Math.max(this.#maxBusy, this.#count - this.#free.length);
    const { index, caller } = environment;
    const before = { ...caller };
    const invocation: Invocation<Result> = {
      environment: index,
      invokedAt: this.#time.now,
      respondedAt: Infinity,
      faults: 0,
      lost: 0,
      outcome: { kind: 'failed', error: 'no response' },
    };
    try {
      invocation.outcome = await handle(environment, invocation);
    } catch (error) {
      invocation.outcome = { kind: 'failed', error };
    }
    invocation.respondedAt = this.#time.now;
    invocation.faults = caller.faults - before.faults;
    invocation.lost = caller.lost - before.lost;
    this.#free.push(environment);
    this.#waiting.shift()?.();
  }
}
