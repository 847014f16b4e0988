import { syncBuiltinESMExports } from 'node:module';
import timersPromises from 'node:timers/promises';
import type { Random } from '../support/random.ts';

/** Something that runs in virtual time and can be paused, as Lambda pauses an execution environment. */
export interface Process {
  /** Virtual milliseconds until which it is frozen: whatever reaches it meanwhile reaches it then. */
  frozenUntil: number;
}

interface Event {
  readonly at: number;
  readonly order: number;
  readonly process: Process | undefined;
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
  /** The next one first. */
  readonly #events: Event[] = [];
  #order = 0;
  /** What the event belongs to that is being run. */
  #process: Process | undefined;

  /** @param start Unix milliseconds */
  constructor(start: number, random: Random) {
    this.#start = start;
    this.now = start;
    this.#random = random;
  }

  /** Runs something at a time, or once its process is no longer frozen. */
  at(time: number, run: () => void, process: Process | undefined = this.#process): void {
    this.#insert({ at: Math.max(time, this.now), order: this.#order++, process, run });
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
          this.#insert({ ...event, at: process.frozenUntil });
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

  /** Behind those of the same time. Events are few and mostly come last, so the list is kept sorted. */
  #insert(event: Event): void {
    const isBefore = ({ at, order }: Event) => at < event.at || (at === event.at && order < event.order);
    this.#events.splice(this.#events.findLastIndex(isBefore) + 1, 0, event);
  }
}

/** Once nothing more happens without an event: every promise has been told. */
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
