import { jest } from '@jest/globals';
import { DAY_MS, endOfDay, endOfMinute, minuteOf } from '../../shared/keys/verdict.ts';

/**
 * The clock of the servers in this process, standing still between its moves. They share the realm of the test, so the
 * time that the gateway stamps requests with comes from this `Date`.
 */
export class HostClock {
  #now: number;

  /**
   * Stops the clock at noon UTC of tomorrow. Functions take their time-out from the difference to the real clock, so
   * the server's may run up to 24 days ahead of it, but never behind.
   */
  constructor() {
    this.#now = Math.ceil(Date.now() / DAY_MS) * DAY_MS + DAY_MS / 2;
    jest.spyOn(Date, 'now').mockImplementation(() => this.#now);
  }

  get now(): number {
    return this.#now;
  }

  /** Unix seconds at which the minute ends. */
  get endOfMinute(): number {
    return endOfMinute(minuteOf(this.#now)) / 1_000;
  }

  /** Unix seconds at which the UTC day ends. */
  get endOfDay(): number {
    return endOfDay(minuteOf(this.#now)) / 1_000;
  }

  moveTo(epochMs: number): void {
    this.#now = epochMs;
  }

  advance(milliseconds: number): void {
    this.#now += milliseconds;
  }

  /** Moves on to the given second of a minute that no request was made in, and long after any suspension. */
  moveToFreshMinute(second = 0): void {
    this.#now = (this.endOfMinute + 600 + second) * 1_000;
  }

  /** Lets time pass again. */
  release(): void {
    jest.restoreAllMocks();
  }
}

/** Stops clocks and timers of the suite, but not its sockets and threads, until `jest.useRealTimers`. */
export const stopClock = () => jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
