import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { isConnectionGone, isThrottled, LAST_ATTEMPT_AFTER_MS, retry } from '../dynamodb.ts';
import { CounterStore, type RequestTimes, type ConditionalWriteResult } from './counter-store.ts';
import { CachedKey } from './cached-key.ts';
import type { Token } from './token.ts';
import { type CountingStep, nextStep, limitRefusal, type Verdict } from './verdict.ts';

/** A lost race means that another request of the key succeeded, so a few rounds suffice. */
const MAX_ROUNDS = 16;

/** LRU cache size, in keys, per execution environment. */
const KEY_CACHE_SIZE = 1_000;

/**
 * Authenticates and counts requests, exactly: of N concurrent requests with remaining quota L, min(N, L) are admitted.
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
 * refusals (`CachedKey`) count with the next refusal written, unless that is throttled. So a flood over a limit
 * causes almost no writes, and resume and move commands wait 1 s for cached refusals to expire. If DynamoDB throttles
 * a key's writes, no further write is sent for 1 s: a cached refusal is served, else the error is thrown.
 *
 * Concurrency. Any number of environments and requests: the condition of one write makes each decision.
 *
 * Errors. Throws the SDK's error if the table is unavailable; the caller must then fail closed. The SDK's client
 * must not retry: a repeated increment would count twice. Retried: throttled writes, stale connections.
 */
export class Limiter {
  readonly #counters: CounterStore;
  readonly #keys = new Map<string, CachedKey>();

  constructor(client: DynamoDBDocumentClient, tableName: string) {
    this.#counters = new CounterStore(client, tableName);
  }

  /**
   * Admits and counts the request, or denies or refuses it.
   *
   * @param now time of the request, Unix milliseconds
   * @throws the SDK's error if the table is unavailable
   */
  async admit(token: Token, now: number): Promise<Verdict> {
    const key = this.#cachedKey(token.recordId);
    const cached = key.cachedVerdict(token.hash, now);
    if (cached) return cached;
    const times = { now, retryUntil: Date.now() + LAST_ATTEMPT_AFTER_MS };
    try {
      // If the write on the stale connection was applied anyway, the request counts twice, never zero times.
      return await retry(() => this.#decide(token, key, times), isConnectionGone, { ...times, maxAttempts: 2 });
    } catch (error) {
      if (isThrottled(error)) key.throttled(error, now);
      throw error;
    }
  }

  async #decide(token: Token, key: CachedKey, times: RequestTimes): Promise<Verdict> {
    const { now, retryUntil } = times;
    let step = key.firstStep(token.hash, now);
    for (let round = 0; round < MAX_ROUNDS && Date.now() <= retryUntil; round++) {
      const write = await this.#count(token, key, step, times);
      key.update(write.key, now);
      if (write.done) {
        if (step.kind === 'countAdmitted') return { kind: 'admitted', key: write.key };
        const refused = await this.#counters.suspendIfRefusedTooOften(token, write.key, times);
        key.update(refused, now);
        return limitRefusal(refused, now);
      }
      const next = nextStep(write.key, token.hash, now);
      if (!('window' in next)) return next;
      step = next;
    }
    throw new Error('No verdict before the deadline or write limit for one key');
  }

  #count(token: Token, key: CachedKey, step: CountingStep, times: RequestTimes): Promise<ConditionalWriteResult> {
    if (step.kind === 'countAdmitted') return this.#counters.countAdmitted(token, step.window, times);
    return this.#counters.countRefused(token, step, key.takeRefusals(step.window.minute), times);
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
