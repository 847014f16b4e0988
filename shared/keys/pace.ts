import type { KeyRecord } from './key-record.ts';
import { isSameDay } from './window.ts';

/** A pace is measured over this many milliseconds at least: a handful of requests at once is no pace. */
const MEASURED_MS = 100;
/** Without a write for this long, in milliseconds, a pace is out of date. */
const STALE_MS = 2_000;

/** DynamoDB takes some 1,000 writes a second to one item. Leases begin a little below that. */
const LEASED_FROM_PER_SECOND = 800;
/** Writes a second that all environments together are meant to make on a leased key. */
const TARGET_WRITES_PER_SECOND = 200;
/** A lease is for this much of the environment's own traffic at most, in milliseconds. */
const LONGEST_LEASE_MS = 500;
/**
 * An environment's own part of what is left of a limit is its part of the key's traffic. A lease takes this much of it:
 * what it does not use is lost where the environment serves no request any more within the minute.
 */
const PART_OF_OWN_ROOM = 1 / 64;
/**
 * Where requests come faster than this and all environments would make more writes a second than that, a lease takes more of
 * the room, at most so much. Slower, a short burst is no reason.
 */
const BOUND_FROM_PER_SECOND = 2_000;
const MOST_WRITES_PER_SECOND = 600;
const MOST_OF_OWN_ROOM = 1 / 4;

/** Requests a second that are counted on a key. */
interface Rates {
  readonly ofAll: number;
  readonly own: number;
}

/**
 * How fast the requests of one key are counted: by this execution environment, and by all of them, as the counter in
 * the key's record shows with each write.
 */
export class Pace {
  #since = 0;
  #first: KeyRecord | undefined;
  #last = 0;
  #own = 0;
  #rates: Rates | undefined;

  /** @param key as the write left it @param taken requests that it took @param now time of the request, Unix milliseconds */
  measure(key: KeyRecord, taken: number, now: number): void {
    const isContinued =
      this.#first?.keyId === key.keyId &&
      now - this.#last < STALE_MS &&
      isSameDay(this.#first.currentMinute, key.currentMinute);
    if (!this.#first || !isContinued) {
      this.#rates = undefined;
      this.#begin(key, now);
      return;
    }
    this.#last = Math.max(this.#last, now);
    this.#own += taken;
    const elapsed = this.#last - this.#since;
    if (elapsed < MEASURED_MS) return;
    const perSecond = 1_000 / elapsed;
    const ofAll = Math.max(this.#own, key.dayUsed - this.#first.dayUsed) * perSecond;
    this.#rates = { ofAll, own: this.#own * perSecond };
    this.#begin(key, now);
  }

  /**
   * Requests to take with one write: 1, unless the requests of the key come faster than its item can be written.
   *
   * @param room requests that are left in the windows
   * @param now Unix milliseconds
   */
  leaseSize(room: number, now: number): number {
    if (!this.#rates || now - this.#last >= STALE_MS) return 1;
    const { ofAll, own } = this.#rates;
    if (ofAll < LEASED_FROM_PER_SECOND) return 1;
    const ownRoom = room * (own / ofAll);
    const isFast = ofAll > BOUND_FROM_PER_SECOND;
    const needed = isFast ? Math.min(ofAll / MOST_WRITES_PER_SECOND, ownRoom * MOST_OF_OWN_ROOM) : 0;
    const longest = (own * LONGEST_LEASE_MS) / 1_000;
    const most = Math.min(ofAll / TARGET_WRITES_PER_SECOND, longest, Math.max(needed, ownRoom * PART_OF_OWN_ROOM));
    return Math.max(1, Math.floor(most));
  }

  #begin(key: KeyRecord, now: number): void {
    this.#first = key;
    this.#since = now;
    this.#last = now;
    this.#own = 0;
  }
}
