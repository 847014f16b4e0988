import type { KeyRecord } from './key-record.ts';
import { type CountingStep, countingStep, nextStep, limitRefusal, type Verdict, validToken } from './verdict.ts';
import { type Minute, minuteOf } from './window.ts';

/** How long an execution environment caches a refusal, in milliseconds of request time. */
export const REFUSAL_CACHE_TTL_MS = 1_000;

/** One key in the cache of an execution environment. */
export class CachedKey {
  /** The item after the last write; undefined if there is none. */
  #key: KeyRecord | undefined;
  /** Time of the last write's request, Unix milliseconds. */
  #seenAt: number | undefined;
  /** Cached refusals that the table does not count yet. */
  #uncounted = 0;
  /** The last write that DynamoDB throttled at every attempt. */
  #throttled: { readonly at: number; readonly error: unknown } | undefined;

  /**
   * The cached verdict; undefined if a write must decide.
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

  /** Records that DynamoDB throttles the writes of this key. */
  throttled(error: unknown, now: number): void {
    this.#throttled = { at: now, error };
  }

  /** The first write to attempt. If the cached minute is stale, the condition fails and returns the current item. */
  firstStep(hash: string, now: number): CountingStep {
    if (this.#key && validToken(this.#key, hash, now)) return countingStep(this.#key, now);
    return { kind: 'countAdmitted', window: { minute: minuteOf(now) } };
  }

  /** Number of refusals to add to the counter: this one and the cached ones of its minute. Resets the cached ones. */
  takeRefusals(minute: Minute): number {
    const uncounted = this.#key?.currentMinute === minute ? this.#uncounted : 0;
    this.#uncounted = 0;
    return 1 + uncounted;
  }

  /** Stores the item that a write returned. @param now time of the request, Unix milliseconds */
  update(key: KeyRecord | undefined, now: number): void {
    const isSameMinute = key?.currentMinute === this.#key?.currentMinute;
    // The key may have been resumed: earlier refusals must not suspend it again.
    if (!isSameMinute || key?.revision !== this.#key?.revision) this.#uncounted = 0;
    this.#key = key;
    this.#seenAt = now;
  }

  /** The cached denial or refusal; undefined if quota may remain or a write must count it. */
  #refuse(hash: string, now: number, isThrottled: boolean): Verdict | undefined {
    const step = nextStep(this.#key, hash, now);
    if (!('window' in step)) return step;
    if (!this.#key || step.kind === 'countAdmitted') return undefined;
    const { minuteRefused, perMinute } = this.#key;
    // Cached only if throttled: a minute's first refusal, and the one that suspends the key.
    const isWritten = step.window.starts !== undefined || minuteRefused + this.#uncounted + 1 >= perMinute;
    if (isWritten && !isThrottled) return undefined;
    this.#uncounted += 1;
    return limitRefusal(this.#key, now);
  }
}

const isRecent = (time: number | undefined, now: number): boolean =>
  time !== undefined && Math.abs(now - time) < REFUSAL_CACHE_TTL_MS;
