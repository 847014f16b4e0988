import type { Random } from '../support/random.ts';
import type { Caller } from './virtual-dynamodb.ts';
import type { VirtualTime } from './virtual-time.ts';

/** A request in an execution environment, and its answer. */
export interface Invocation<Result> {
  readonly environment: number;
  readonly invokedAt: number;
  /** `Infinity`: never. */
  answeredAt: number;
  /** Calls of the environment that failed meanwhile. */
  faults: number;
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
  #mostBusy = 0;

  constructor(time: VirtualTime, random: Random, count: number) {
    this.#time = time;
    this.#random = random;
    this.#count = count;
    this.#free = Array.from({ length: count }, (_, index) => ({
      index,
      caller: { lastCallAt: time.now, faults: 0 },
    }));
  }

  /** The most that had a request at the same time. */
  get mostBusy(): number {
    return this.#mostBusy;
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
    this.#mostBusy = Math.max(this.#mostBusy, this.#count - this.#free.length);
    const { index, caller } = environment;
    const faultsBefore = caller.faults;
    const invocation: Invocation<Result> = {
      environment: index,
      invokedAt: this.#time.now,
      answeredAt: Infinity,
      faults: 0,
      outcome: { kind: 'failed', error: 'no answer' },
    };
    try {
      invocation.outcome = await handle(environment, invocation);
    } catch (error) {
      invocation.outcome = { kind: 'failed', error };
    }
    invocation.answeredAt = this.#time.now;
    invocation.faults = caller.faults - faultsBefore;
    this.#free.push(environment);
    this.#waiting.shift()?.();
  }
}

interface Bursts {
  /** Milliseconds between two requests of a burst, in the mean. */
  readonly gaps: readonly number[];
  /** Requests of a burst: at least, and at most beyond that. */
  readonly requests: readonly [number, number];
  /** Milliseconds to the next burst, given when this one ends. */
  readonly pauses: (end: number) => readonly number[];
  /** Begins a burst. @returns what sends one request of it */
  readonly begin: () => () => void;
  /** What an admin does during some bursts. */
  readonly administer: () => void;
}

/** Plans some bursts of requests, with pauses between them. */
export function planBursts(
  time: VirtualTime,
  random: Random,
  { gaps, requests, pauses, begin, administer }: Bursts,
): void {
  const bursts = 2 + random.below(4);
  let at = time.now;
  for (let burst = 0; burst < bursts; burst++) {
    const start = at;
    const gap = random.pick(gaps);
    let send: (() => void) | undefined;
    time.at(start, () => (send = begin()));
    for (let left = requests[0] + random.below(requests[1]); left > 0; left--) {
      time.at(at, () => send?.());
      at += random.next() * 2 * gap;
    }
    if (random.isLikely(0.5)) time.at(start + random.next() * (at - start), administer);
    at += random.pick(pauses(at));
  }
}
