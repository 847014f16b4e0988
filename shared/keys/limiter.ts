import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { isConnectionGone, isThrottled, LAST_ATTEMPT_AFTER_MS, retry } from '../dynamodb.ts';
import { CounterStore, type Refusals, type WriteOptions } from './counter-store.ts';
import type { KeyRecord } from './key-record.ts';
import type { Token } from './token.ts';
import {
  type CountingStep,
  countingStep,
  isSameDay,
  limitRefusal,
  type Minute,
  minuteOf,
  nextStep,
  validToken,
  type Verdict,
} from './verdict.ts';

/** A lost race means that another request of the key succeeded, so a few rounds suffice. */
const MAX_ROUNDS = 16;

const NONE: Refusals = { ofMinute: 0, ofDay: 0 };

/** LRU cache size, in keys, per execution environment. */
const KEY_CACHE_SIZE = 1_000;

/** How long an execution environment caches a refusal, in milliseconds of request time. */
export const REFUSAL_CACHE_TTL_MS = 1_000;

/**
 * Throttled writes of a key are not retried if the environment wrote it less than this before, in milliseconds: retries
 * of a hot key would use up the throughput of its partition, which other keys share.
 */
const HOT_KEY_INTERVAL_MS = 20;

/** How long an environment sends no write of a key after a throttled one, in milliseconds of request time. */
export const FIRST_PAUSE_MS = 50;
/** The same if another one was throttled within as long before; then it is not retried either. */
export const REPEATED_PAUSE_MS = 1_000;

/**
 * Authenticates and counts requests. Never more than the remaining quota L is admitted. Of N concurrent requests
 * min(N, L) are, except that one whose response from DynamoDB is lost may count twice, or count and throw.
 *
 * Algorithm. A key's item has its state, its tokens and the counters of both windows. One conditional update
 * checks that the token is valid and that quota remains in both windows, and counts. If the condition fails, DynamoDB
 * returns the current item, and a pure function of it (`nextStep`) decides: deny, refuse, or another conditional
 * update, which begins a minute or counts a refusal. There are no reads before writes, and counts are never undone.
 *
 * Cost. An admitted request is one write; an environment's first in a minute up to two, or one if it begins the
 * minute of a cached key. A key's throughput is the write throughput of its item: about 1,000/s.
 *
 * Cache. Only denials and refusals are served from the cache, for 1 s. Admission always requires a write. Cached
 * refusals count with the next refusal written, unless that is throttled. So a flood over a limit causes almost no
 * writes, and resume and move commands wait 1 s for cached refusals to expire. After a throttled write of a key, no
 * other is sent for 50 ms, or for 1 s if it is the second within 1 s: a cached refusal is served, else admit throws.
 *
 * Concurrency. Any number of environments and requests: the condition of one write makes each decision.
 *
 * Errors. Throws the SDK's error if the table is unavailable; the caller must then fail closed. The SDK's client
 * must not retry: a repeated increment would count twice. Retried: stale connections, and throttled writes of a key
 * that the environment did not write in the 20 ms before, if none was throttled in the second before.
 */
export class Limiter {
  readonly #counters: CounterStore;
  readonly #keys = new Map<string, CachedKey>();

  constructor(client: DynamoDBDocumentClient, tableName: string) {
    this.#counters = new CounterStore(client, tableName);
  }

  /** Admits and counts the request, or denies or refuses it. @param now time of the request, Unix milliseconds */
  async admit(token: Token, now: number): Promise<Verdict> {
    const key = this.#cachedKey(token.recordId);
    const cached = key.denyOrRefuse(token.hash, now);
    if (cached) return cached;
    const retryUntil = Date.now() + LAST_ATTEMPT_AFTER_MS;
    const options = { now, retryUntil, retriesThrottled: key.retriesThrottled(now) };
    try {
      // If the write on the stale connection was applied anyway, the request counts twice, never zero times.
      return await retry(() => this.#decide(token, key, options), isConnectionGone, { retryUntil, maxAttempts: 2 });
    } catch (error) {
      if (isThrottled(error)) key.throttled(error, now);
      throw error;
    } finally {
      key.writesEnded();
    }
  }

  async #decide(token: Token, key: CachedKey, options: WriteOptions): Promise<Verdict> {
    const { now, retryUntil } = options;
    let step = key.firstStep(token.hash, now);
    for (let round = 0; round < MAX_ROUNDS && Date.now() <= retryUntil; round++) {
      const refused = step.kind === 'countRefused' ? key.takeRefusals(step.window.minute) : NONE;
      const write = await this.#counters.count(token, step, refused, options);
      key.update(write.key, now);
      if (write.conditionHeld) {
        if (step.kind === 'countAdmitted') return { kind: 'admitted', key: write.key };
        const latest = await this.#counters.suspendIfRefusedTooOften(token, write.key, options);
        key.update(latest, now);
        return limitRefusal(latest, now);
      }
      const next = nextStep(write.key, token.hash, now);
      if (!('window' in next)) return next;
      step = next;
    }
    throw new Error('No verdict before the deadline or write limit for one key');
  }

  /** Marks a key as most recently used, and evicts the least recently used one beyond the cache size. */
  #cachedKey(recordId: string): CachedKey {
    const key = this.#keys.get(recordId) ?? new CachedKey();
    this.#keys.delete(recordId);
    this.#keys.set(recordId, key);
    const [first] = this.#keys.keys();
    if (this.#keys.size > KEY_CACHE_SIZE && first !== undefined) this.#keys.delete(first);
    return key;
  }
}

/** One key in the cache of an execution environment. */
export class CachedKey {
  /** The item after the last write; undefined if there is none. */
  #key: KeyRecord | undefined;
  /** Time of the last write's request, Unix milliseconds. */
  #seenAt: number | undefined;
  /** When the last request that wrote the key ended, by this machine's clock. Unix milliseconds. */
  #writtenAt: number | undefined;
  /** Cached refusals that the table does not count yet, in the minute and in the day. */
  #uncounted = 0;
  #uncountedToday = 0;
  /** The last write that DynamoDB throttled at every attempt, and how long no other is sent. */
  #throttled: { readonly at: number; readonly error: unknown; readonly pauseMs: number } | undefined;

  /**
   * Denies or refuses a request from the cache; undefined if a write must decide. A refusal counts with the next one
   * that is written. @throws the error of the throttled write after which no other is sent yet
   */
  denyOrRefuse(hash: string, now: number): Verdict | undefined {
    const step = isWithin(REFUSAL_CACHE_TTL_MS, this.#seenAt, now) ? nextStep(this.#key, hash, now) : undefined;
    if (step && !('window' in step)) return step;
    const { at, error, pauseMs = 0 } = this.#throttled ?? {};
    const isPaused = isWithin(pauseMs, at, now);
    if (this.#key && step?.kind === 'countRefused' && (isPaused || !this.#mustWrite(this.#key, step))) {
      this.#uncounted += 1;
      this.#uncountedToday += 1;
      return limitRefusal(this.#key, now);
    }
    if (isPaused) throw error;
    return undefined;
  }

  /** Whether a refusal is a minute's first, or suspends the key. */
  #mustWrite({ minuteRefused, perMinute }: KeyRecord, { window }: CountingStep): boolean {
    return window.starts !== undefined || minuteRefused + this.#uncounted + 1 >= perMinute;
  }

  /** Records that DynamoDB throttles the writes of this key. */
  throttled(error: unknown, now: number): void {
    this.#throttled = { at: now, error, pauseMs: this.#wasThrottled(now) ? REPEATED_PAUSE_MS : FIRST_PAUSE_MS };
  }

  #wasThrottled(now: number): boolean {
    return isWithin(REPEATED_PAUSE_MS, this.#throttled?.at, now);
  }

  /** Records that a request has made its last write of this key, throttled or not. */
  writesEnded(): void {
    this.#writtenAt = Date.now();
  }

  /** False if this environment just wrote the key, or had a throttled write of it within the last second. */
  retriesThrottled(now: number): boolean {
    return !isWithin(HOT_KEY_INTERVAL_MS, this.#writtenAt, Date.now()) && !this.#wasThrottled(now);
  }

  /** The first write to attempt. If the cached minute is stale, the condition fails and returns the current item. */
  firstStep(hash: string, now: number): CountingStep {
    if (this.#key && validToken(this.#key, hash, now)) return countingStep(this.#key, now);
    return { kind: 'countAdmitted', window: { minute: minuteOf(now) } };
  }

  /** The refusals to add to the counters: this one, and the cached ones, which it resets. */
  takeRefusals(minute: Minute): Refusals {
    const ofMinute = this.#key?.currentMinute === minute ? this.#uncounted : 0;
    const refused = { ofMinute: 1 + ofMinute, ofDay: 1 + this.#uncountedToday };
    this.#uncounted = 0;
    this.#uncountedToday = 0;
    return refused;
  }

  /** Stores the item that a write returned. @param now time of the request, Unix milliseconds */
  update(key: KeyRecord | undefined, now: number): void {
    const isSameMinute = key?.currentMinute === this.#key?.currentMinute;
    // The key may have been resumed: earlier refusals must not suspend it again.
    if (!isSameMinute || key?.revision !== this.#key?.revision) this.#uncounted = 0;
    if (key && this.#key && !isSameDay(key.currentMinute, this.#key.currentMinute)) this.#uncountedToday = 0;
    this.#key = key;
    this.#seenAt = now;
  }
}

const isWithin = (milliseconds: number, time: number | undefined, now: number): boolean =>
  time !== undefined && Math.abs(now - time) < milliseconds;
