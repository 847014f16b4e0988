import { syncBuiltinESMExports } from 'node:module';
import timersPromises from 'node:timers/promises';
import type { Random } from '../support/random.ts';

interface Event {
  readonly at: number;
  readonly run: () => void;
}

const real = {
  setImmediate,
  setTimeout,
  sleep: timersPromises.setTimeout,
  now: Date.now,
  random: Math.random,
  elapsed: performance.now.bind(performance),
};

/** The virtual time that is running: one at a time. */
let running: VirtualTime | undefined;

/**
 * A clock that moves only from one event to the next, and the clock and the timers of the code under test as well. All
 * that an event sets off has come to rest before the next one: the same seed gives the same run.
 *
 * It replaces the clock and the timers of the whole process, so it is for a process of its own.
 */
export class VirtualTime {
  /** Unix milliseconds. */
  now: number;
  readonly #start: number;
  readonly #random: Random;
  /** The next one first. */
  readonly #events: Event[] = [];

  constructor(start: number, random: Random) {
    this.now = start;
    this.#start = start;
    this.#random = random;
  }

  /** Milliseconds since the beginning. */
  get elapsed(): number {
    return this.now - this.#start;
  }

  random(): number {
    return this.#random.next();
  }

  /** Runs something at a time, after what is already due then. Most comes last, so the list is kept sorted. */
  at(time: number, run: () => void): void {
    const at = Math.max(time, this.now);
    this.#events.splice(this.#events.findLastIndex((event) => event.at <= at) + 1, 0, { at, run });
  }

  sleep(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      this.at(this.now + milliseconds, resolve);
    });
  }

  /** Runs all events, and all that they set off. */
  async run(): Promise<void> {
    const { stackTraceLimit } = Error;
    // The replaced clock and timers are those of the running one.
    // oxlint-disable-next-line typescript/no-this-alias
    running = this;
    // A stack trace for each error would take a third of the time.
    Error.stackTraceLimit = 0;
    try {
      await quiet();
      for (let event = this.#events.shift(); event; event = this.#events.shift()) {
        this.now = event.at;
        event.run();
        await quiet();
      }
    } finally {
      running = undefined;
      Error.stackTraceLimit = stackTraceLimit;
    }
  }
}

/** Resolves once nothing more happens without an event. */
const quiet = (): Promise<void> => new Promise((resolve) => real.setImmediate(resolve));

Date.now = () => (running ? Math.floor(running.now) : real.now());
Math.random = () => running?.random() ?? real.random();
performance.now = () => running?.elapsed ?? real.elapsed();
globalThis.setTimeout = Object.assign((...timer: Parameters<typeof real.setTimeout>) => {
  if (running) throw new Error('Virtual time has the timers of node:timers/promises only');
  return real.setTimeout(...timer);
}, real.setTimeout);
Object.assign(timersPromises, {
  setTimeout: (delay = 0) => (running ? running.sleep(delay) : real.sleep(delay)),
});
syncBuiltinESMExports();
