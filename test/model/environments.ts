import type { Random } from '../support/random.ts';
import { type Caller, newCaller } from './virtual-dynamodb.ts';
import type { VirtualTime } from './virtual-time.ts';

/** A request in an execution environment, and what its client was told. */
export interface Invocation<Result> {
  readonly environment: number;
  readonly invokedAt: number;
  /** `Infinity`: never. */
  answeredAt: number;
  /** Calls of the environment that went wrong meanwhile. */
  troubles: number;
  /** `failed`: something was thrown. `abandoned`: the environment was frozen before it had an answer. */
  outcome: Result | { readonly kind: 'failed'; readonly error: unknown } | { readonly kind: 'abandoned' };
}

export interface Environment {
  readonly index: number;
  readonly caller: Caller;
  isBusy: boolean;
  lastUsed: number;
}

interface Settings {
  readonly time: VirtualTime;
  readonly random: Random;
  readonly count: number;
  /** Whether environments are frozen, in the middle of a request too, and thawed much later. */
  readonly freezes: boolean;
}

/** Connections are idle after this long, in milliseconds, and may be gone. */
const IDLE_MS = 2_000;
const FREEZES_MS = [500, 5_000, 70_000] as const;

/** The execution environments of a function, as Lambda has them: each has one request at a time. */
export class Environments {
  readonly #settings: Settings;
  readonly #all: Environment[];
  readonly #waiting: (() => void)[] = [];

  constructor(settings: Settings) {
    this.#settings = settings;
    this.#all = Array.from({ length: settings.count }, (_, index) => ({
      index,
      caller: newCaller(),
      isBusy: false,
      lastUsed: settings.time.now,
    }));
  }

  /** Hands a request to the environment used last, or to any; it waits until one is free. */
  invoke<Result>(
    isRecent: boolean,
    handle: (environment: Environment, invocation: Invocation<Result>) => Promise<Result>,
  ): void {
    const { time, random } = this.#settings;
    const free = this.#all.filter(({ isBusy }) => !isBusy);
    const recent = free.toSorted((a, b) => b.lastUsed - a.lastUsed)[0];
    if (!recent) {
      this.#waiting.push(() => this.invoke(isRecent, handle));
      return;
    }
    const environment = isRecent ? recent : random.pick(free);
    environment.isBusy = true;
    time.at(time.now, () => this.#handle(environment, handle), environment.caller);
  }

  #handle<Result>(
    environment: Environment,
    handle: (environment: Environment, invocation: Invocation<Result>) => Promise<Result>,
  ): void {
    const { time, random, freezes } = this.#settings;
    const { caller, index } = environment;
    if (freezes && time.now - environment.lastUsed > IDLE_MS) caller.isConnectionIdle = true;
    const troublesBefore = caller.troubles;
    const invocation: Invocation<Result> = {
      environment: index,
      invokedAt: time.now,
      answeredAt: Infinity,
      troubles: 0,
      outcome: { kind: 'abandoned' },
    };
    let isAbandoned = false;
    const end = (outcome: Invocation<Result>['outcome']): void => {
      if (isAbandoned) return;
      Object.assign(invocation, { outcome, answeredAt: time.now, troubles: caller.troubles - troublesBefore });
      this.#release(environment);
    };
    handle(environment, invocation).then(end, (error: unknown) => end({ kind: 'failed', error }));
    if (!freezes || !random.isLikely(0.05)) return;
    time.at(time.now + random.next() * 10, () => {
      if (invocation.answeredAt !== Infinity) return;
      isAbandoned = true;
      this.#freeze(environment);
    });
  }

  /** Lambda takes the environment up again for its next request, and what was left of this one goes on beside it. */
  #freeze(environment: Environment): void {
    const { time, random } = this.#settings;
    const { caller } = environment;
    caller.troubles += 1;
    caller.frozenUntil = time.now + random.pick(FREEZES_MS);
    caller.isConnectionIdle = true;
    time.at(caller.frozenUntil, () => this.#release(environment));
  }

  #release(environment: Environment): void {
    environment.isBusy = false;
    environment.lastUsed = this.#settings.time.now;
    this.#waiting.shift()?.();
  }
}
