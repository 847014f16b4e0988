import { type Amount, ONE, type Refusals } from './counter-store.ts';
import type { KeyRecord } from './key-record.ts';
import { workingToken } from './working-token.ts';
import { Pace } from './pace.ts';
import {
  type CountedIn,
  type CountedVerdict,
  countingStep,
  type CountingStep,
  MOST_AHEAD_MS,
  refusal,
  type Refusal,
  tightest,
  windowsOf,
} from './verdict.ts';
import { isSameDay, type Minute, minuteOf } from './window.ts';

/**
 * How long an execution environment acts on what it remembers of a key without asking the table, in milliseconds of
 * request time. A key that is revoked, suspended, resumed or moved meanwhile is served as before until then, and no longer.
 */
export const LEASE_MS = 1_000;

/** Requests that a lease took from a minute and did not use. */
export interface Unused {
  readonly keyId: string;
  readonly minute: Minute;
  readonly count: number;
}

/**
 * What one execution environment remembers of a key. The windows count a request when it is taken, so all environments
 * together never admit more than the limit.
 *
 *     ┌───────────┐  grant, more than one taken   ┌────────┐  answer: admits one, while #left > 0
 *     │ asks the  │ ────────────────────────────► │ leased │
 *     │ table     │ ◄──────────────────────────── └────────┘
 *     │           │  nothing left; end; #validUntil; update with another key or minute
 *     │           │
 *     │           │  refuse, without a lease      ┌─────────┐  answer: refuses, and counts in #uncounted
 *     │           │ ────────────────────────────► │ refuses │
 *     └───────────┘ ◄──────────────────────────── └─────────┘
 *                     #validUntil; the next minute; the refusal that suspends; update with another key or minute
 *
 * A write that is made: `firstStep`, `end` (the lease is given back with the write) and `amount` or `takeRefusals` before
 * it; after it `grant` or `refuse`, or, where its condition was false, `update` and the next step. `restore` takes back
 * what `end` gave where no write was made with it.
 */
export class RememberedKey {
  /** As it was last written or read. */
  #key: KeyRecord;
  readonly #pace = new Pace();
  /** Requests of `#key.currentMinute` that were taken and may be admitted without a write. */
  #left = 0;
  /** The answer without a write, and how many got it that the table does not count yet. */
  #refusal: Refusal | undefined;
  #uncounted = 0;
  /** Unix milliseconds at which the two above end. */
  #validUntil = 0;

  constructor(key: KeyRecord) {
    this.#key = key;
  }

  /** Whether a token works, as far as this environment knows. @param now Unix milliseconds */
  holds(hash: string, now: number): boolean {
    return workingToken(this.#key, hash, now) !== undefined;
  }

  /** The verdict from memory; undefined where the table has to be asked. @param now Unix milliseconds */
  answer(hash: string, now: number): CountedVerdict | undefined {
    if (!this.holds(hash, now)) return undefined;
    const { currentMinute, minuteRefused, perMinute } = this.#key;
    // What was remembered by a clock that was wrong would last for long.
    if (now >= this.#validUntil || now < this.#validUntil - LEASE_MS - MOST_AHEAD_MS) return undefined;
    if (this.#refusal?.reason === 'suspended') return refusal(this.#key, now);
    if (minuteOf(now) > currentMinute) return undefined;
    if (this.#refusal) {
      // The refusal that suspends the key is written.
      if (minuteRefused + this.#uncounted + 1 >= perMinute) return undefined;
      this.#uncounted += 1;
      return this.#refusal;
    }
    if (this.#left === 0) return undefined;
    this.#left -= 1;
    return this.#admitted();
  }

  /** The write to try first. Where it counts in another minute than the key has by now, it fails, and brings that. */
  firstStep(now: number, clock: number): CountingStep {
    return countingStep(this.#key, now, clock);
  }

  /**
   * Requests to take with one write in a window.
   *
   * @param unused of an earlier lease: the same write gives them back
   */
  amount(window: CountedIn, unused: Unused | undefined, now: number): { taken: number; amount: Amount } {
    const { keyId, currentMinute, perMinute, perDay } = this.#key;
    const back = unused?.keyId === keyId ? unused : undefined;
    const backToMinute = back?.minute === window.minute ? back.count : 0;
    const backToDay = back && isSameDay(back.minute, window.minute) ? back.count : 0;
    const minuteUsed = currentMinute === window.minute ? this.#key.minuteUsed : 0;
    const dayUsed = isSameDay(currentMinute, window.minute) ? this.#key.dayUsed : 0;
    const room = Math.min(perMinute - minuteUsed + backToMinute, perDay - dayUsed + backToDay);
    const taken = this.#pace.leaseSize(room, now);
    const ofMinute = taken - backToMinute;
    const ofDay = taken - backToDay;
    // One request needs no known limits: the write's condition compares with those in the table.
    return { taken, amount: ofMinute === 1 && ofDay === 1 ? ONE : { ofMinute, ofDay, known: this.#key } };
  }

  /** Ends the lease. @returns what it did not use */
  end(): Unused | undefined {
    const count = this.#left;
    this.#left = 0;
    return count === 0 ? undefined : { keyId: this.#key.keyId, minute: this.#key.currentMinute, count };
  }

  /** Takes back what {@link end} gave, where that was not given back to the table. */
  restore(unused: Unused | undefined): void {
    if (unused?.minute === this.#key.currentMinute) this.#left += unused.count;
  }

  /** Refusals of a minute to count with the next write: the one at hand, and those from memory, which are counted once. */
  takeRefusals(minute: Minute): Refusals {
    const { currentMinute, revision } = this.#key;
    const uncounted = currentMinute === minute ? this.#uncounted : 0;
    this.#uncounted = 0;
    return uncounted === 0 ? { count: 1 } : { count: 1 + uncounted, revision };
  }

  /** Takes over the key as a write found it that counted nothing. */
  update(key: KeyRecord): void {
    if (key.keyId !== this.#key.keyId || key.currentMinute !== this.#key.currentMinute) {
      this.#left = 0;
      this.#uncounted = 0;
      this.#validUntil = 0;
    }
    // The key may have been resumed: what was refused before must not suspend it again.
    if (key.revision !== this.#key.revision) this.#uncounted = 0;
    this.#key = key;
  }

  /** Remembers requests that were just taken, the one at hand included. @returns the verdict on that one */
  grant(key: KeyRecord, taken: number, now: number): CountedVerdict {
    this.update(key);
    this.#pace.measure(key, taken, now);
    this.#left += taken - 1;
    this.#refusal = undefined;
    this.#validUntil = Math.min(now + LEASE_MS, key.expiresAt ?? Infinity);
    return this.#admitted();
  }

  /** Remembers that the key is refused for now. @returns the verdict */
  refuse(key: KeyRecord, now: number): CountedVerdict {
    this.update(key);
    const verdict = refusal(key, now);
    if (this.#left > 0) return verdict;
    this.#refusal = verdict;
    this.#validUntil = Math.min(now + LEASE_MS, tightest(windowsOf(verdict)).resetsAt, key.expiresAt ?? Infinity);
    return verdict;
  }

  /** What is left of the windows, as far as this environment knows: what it holds itself, and what has not been taken. */
  #admitted(): CountedVerdict {
    const { minuteUsed, dayUsed } = this.#key;
    const key = { ...this.#key, minuteUsed: minuteUsed - this.#left, dayUsed: dayUsed - this.#left };
    return { kind: 'admitted', key };
  }
}
