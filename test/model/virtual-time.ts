import { syncBuiltinESMExports } from 'node:module';
import timersPromises from 'node:timers/promises';
import type { Random } from '../support/random.ts';

/** Something that runs in virtual time and can be paused, as Lambda pauses an execution environment. */
export interface Process {
  /** Virtual milliseconds until which it is frozen: whatever reaches it meanwhile reaches it then. */
  frozenUntil: number;
}

interface Event {
  at: number;
  readonly order: number;
  readonly process: Process | undefined;
  readonly run: () => void;
}

const real = {
  setImmediate,
  setTimeout,
  clearTimeout,
  now: Date.now,
  random: Math.random,
  elapsed: performance.now.bind(performance),
};

/** The virtual time that is running: there is one at a time. */
let running: VirtualTime | undefined;

/**
 * A clock that moves only from one event to the next, and the clock and the timers of the code under test as well. All
 * that an event sets off has come to rest before the next one: the same seed gives the same run.
 *
 * It replaces the clock and the timers of the whole process, so it is for a process of its own.
 */
export class VirtualTime {
  now: number;
  readonly #random: Random;
  readonly #start: number;
  #events: Event[] = [];
  #order = 0;
  /** What the event belongs to that is being run. */
  #process: Process | undefined;

  /** @param start Unix milliseconds */
  constructor(start: number, random: Random) {
    this.#start = start;
    this.now = start;
    this.#random = random;
  }

  /** Runs something at a time, or once its process is no longer frozen. Returns what cancels it. */
  at(time: number, run: () => void, process: Process | undefined = this.#process): () => void {
    const event = { at: Math.max(time, this.now), order: this.#order++, process, run };
    insert(this.#events, event);
    return () => {
      this.#events = this.#events.filter((other) => other !== event);
    };
  }

  /** Waits, for the process that is running. */
  sleep(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      this.at(this.now + milliseconds, resolve);
    });
  }

  /** Runs all events to the last, and what they set off. */
  async run(): Promise<void> {
    const { stackTraceLimit } = Error;
    // The replaced clock and timers are those of whichever runs.
    // oxlint-disable-next-line typescript/no-this-alias
    running = this;
    // Errors are part of the game, and nobody looks at where each was made: that takes a third of the time.
    Error.stackTraceLimit = 0;
    try {
      await quiet();
      for (let event = this.#events.shift(); event; event = this.#events.shift()) {
        const { process } = event;
        if (process && process.frozenUntil > event.at) {
          event.at = process.frozenUntil;
          insert(this.#events, event);
          continue;
        }
        this.now = event.at;
        this.#process = process;
        event.run();
        await quiet();
      }
    } finally {
      running = undefined;
      Error.stackTraceLimit = stackTraceLimit;
    }
  }

  /** Milliseconds since the beginning. */
  get elapsed(): number {
    return this.now - this.#start;
  }

  random(): number {
    return this.#random.next();
  }
}

/** Events are few and mostly come last, so the list is kept sorted. */
function insert(events: Event[], event: Event): void {
  let index = events.length;
  while (index > 0 && isBefore(event, events[index - 1])) index -= 1;
  events.splice(index, 0, event);
}

const isBefore = (one: Event, other: Event | undefined): boolean =>
  other !== undefined && (one.at < other.at || (one.at === other.at && one.order < other.order));

/** Once nothing more happens without an event: every promise has been told. */
const quiet = (): Promise<void> => new Promise((resolve) => real.setImmediate(resolve));

/** What a virtual `setTimeout` returns, as far as anybody uses it. */
class VirtualTimeout {
  readonly cancel: () => void;

  constructor(cancel: () => void) {
    this.cancel = cancel;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }
}

function setVirtualTimeout(callback: (...values: unknown[]) => void, delay = 0, ...values: unknown[]): unknown {
  if (!running) return real.setTimeout(callback, delay, ...values);
  return new VirtualTimeout(running.at(running.now + delay, () => callback(...values)));
}

function clearVirtualTimeout(timeout: VirtualTimeout | NodeJS.Timeout | undefined): void {
  if (timeout instanceof VirtualTimeout) timeout.cancel();
  else real.clearTimeout(timeout);
}

const sleep = (delay?: number, value?: unknown): Promise<unknown> =>
  new Promise((resolve) => setVirtualTimeout(resolve, delay, value));

Date.now = () => (running ? Math.floor(running.now) : real.now());
Math.random = () => running?.random() ?? real.random();
performance.now = () => running?.elapsed ?? real.elapsed();
Object.assign(globalThis, { setTimeout: setVirtualTimeout, clearTimeout: clearVirtualTimeout });
Object.assign(timersPromises, { setTimeout: sleep });
syncBuiltinESMExports();
