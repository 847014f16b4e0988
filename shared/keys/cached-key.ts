import type { KeyRecord } from './key-record.ts';
import { type CountingStep, countingStep, nextStep, limitRefusal, type Verdict, workingToken } from './verdict.ts';
import { type Minute, minuteOf } from './window.ts';

/** How long an execution environment refuses from memory, in milliseconds of request time. */
export const REFUSAL_CACHE_TTL_MS = 1_000;

/** What one execution environment remembers of a key. */
export class CachedKey {
  /** The item as a write last found or left it; undefined where there is none. */
  #key: KeyRecord | undefined;
  /** Time of the request that wrote, Unix milliseconds. */
  #seenAt: number | undefined;
  /** Refusals from memory that the table does not count yet. */
  #uncounted = 0;
  /** The last write that DynamoDB throttled to the end. */
  #throttled: { readonly at: number; readonly error: unknown } | undefined;

  /**
   * The verdict from memory; undefined where the table has to be asked.
   *
   * @param now time of the request, Unix milliseconds
   * @throws the error of a write that was throttled within the last second
   */
  cachedVerdict(hash: string, now: number): Verdict | undefined {
    const throttled = isRecent(this.#throttled?.at, now) ? this.#throttled : undefined;
    const verdict = isRecent(this.#seenAt, now) ? this.#refuse(hash, now, throttled !== undefined) : undefined;
    if (!verdict && throttled) throw throttled.error;
    return verdict;
  }

  /** Remembers that DynamoDB throttles the writes of this key. */
  throttled(error: unknown, now: number): void {
    this.#throttled = { at: now, error };
  }

  /** The write to try first. Where it counts in another minute than the key has by now, it fails, and brings that. */
  firstStep(hash: string, now: number): CountingStep {
    if (this.#key && workingToken(this.#key, hash, now)) return countingStep(this.#key, now);
    return { kind: 'countAdmitted', window: { minute: minuteOf(now) } };
  }

  /** Refusals of a minute to count with the next write: this one, and those from memory, which are counted once. */
  takeRefusals(minute: Minute): number {
    const uncounted = this.#key?.currentMinute === minute ? this.#uncounted : 0;
    this.#uncounted = 0;
    return 1 + uncounted;
  }

  /** Takes over the item as a write found or left it. @param now time of the request, Unix milliseconds */
  update(key: KeyRecord | undefined, now: number): void {
    const isSameMinute = key?.currentMinute === this.#key?.currentMinute;
    // The key may have been resumed: what was refused before must not suspend it again.
    if (!isSameMinute || key?.revision !== this.#key?.revision) this.#uncounted = 0;
    this.#key = key;
    this.#seenAt = now;
  }

  /** What the item says against a request; undefined where it may have room. */
  #refuse(hash: string, now: number, isThrottled: boolean): Verdict | undefined {
    const step = nextStep(this.#key, hash, now);
    if (!('window' in step)) return step;
    if (!this.#key || step.kind === 'countAdmitted') return undefined;
    const { minuteRefused, perMinute } = this.#key;
    // The first refusal of a minute is written, and the one that suspends the key.
    const isWritten = step.window.starts !== undefined || minuteRefused + this.#uncounted + 1 >= perMinute;
    if (isWritten && !isThrottled) return undefined;
    this.#uncounted += 1;
    return limitRefusal(this.#key, now);
  }
}

const isRecent = (time: number | undefined, now: number): boolean =>
  time !== undefined && Math.abs(now - time) < REFUSAL_CACHE_TTL_MS;
