import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { isConnectionGone, isThrottled, LAST_ATTEMPT_AFTER_MS, retry } from '../dynamodb.ts';
import { CounterStore, type RequestTimes, type ConditionalWriteResult } from './counter-store.ts';
import { CachedKey } from './cached-key.ts';
import type { Token } from './token.ts';
import { type CountingStep, nextStep, limitRefusal, type Verdict } from './verdict.ts';

/** Losing a race means that another request of the key got through, so a few rounds are always enough. */
const MAX_ROUNDS = 16;

/** Keys remembered at once. Beyond them the one that was not used for longest is forgotten. */
const KEY_CACHE_SIZE = 1_000;

/**
 * Authenticates and counts requests, exactly: of N concurrent requests with room for L, min(N, L) are admitted.
 *
 * Algorithm. The item of a key has its state, its tokens and the counters of its two windows. One conditional update
 * says "this token opens this key, and minute and day have room", and counts. Where the condition is false, DynamoDB
 * returns the item as it is, and a pure function of it (`nextStep`) decides: deny, refuse, or another conditional
 * update, which begins a minute or counts a refusal. Nothing is read before it is written, or given back once counted.
 *
 * Cost. An admitted request is one write; the first one in a minute of each environment is two, unless it begins the
 * minute of a key that the environment knows. A key takes as many requests as its item takes writes: some 1,000/s.
 *
 * Memory. An environment admits nothing from memory. It refuses and denies from the item as it last saw it for a second
 * (`CachedKey`), and counts these refusals with its next write, unless that is throttled. So a flood over a limit
 * costs next to no writes, and a key that is resumed or moved waits that second out. A key whose writes DynamoDB
 * throttles is not asked for in that second: it is refused where it was refused before; else the error is thrown.
 *
 * Concurrency. Any number of environments, and of requests within one: each decision is the condition of one write.
 *
 * Errors. What the SDK throws where the table cannot be reached: the request must then not be served. The SDK's client
 * must not retry: a repeated increment would count twice. The one repetition is of a write whose connection was gone.
 */
export class Limiter {
  readonly #counters: CounterStore;
  readonly #keys = new Map<string, CachedKey>();

  constructor(client: DynamoDBDocumentClient, tableName: string) {
    this.#counters = new CounterStore(client, tableName);
  }

  /**
   * Admits the request and counts it, or says why not.
   *
   * @param now time of the request, Unix milliseconds
   * @throws whatever the SDK throws where the table cannot be reached
   */
  async admit(token: Token, now: number): Promise<Verdict> {
    const key = this.#cachedKey(token.recordId);
    const cached = key.cachedVerdict(token.hash, now);
    if (cached) return cached;
    const times = { now, retryUntil: Date.now() + LAST_ATTEMPT_AFTER_MS };
    try {
      // Should a write whose connection was gone have arrived after all, the request counts twice: never too few.
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
    throw new Error('No decision after many rounds of conditional writes on one key');
  }

  #count(token: Token, key: CachedKey, step: CountingStep, times: RequestTimes): Promise<ConditionalWriteResult> {
    if (step.kind === 'countAdmitted') return this.#counters.countAdmitted(token, step.window, times);
    return this.#counters.countRefused(token, step, key.takeRefusals(step.window.minute), times);
  }

  /** Puts a key behind all others, and forgets the first where there are too many. */
  #cachedKey(recordId: string): CachedKey {
    const key = this.#keys.get(recordId) ?? new CachedKey();
    this.#keys.delete(recordId);
    this.#keys.set(recordId, key);
    const [first] = this.#keys.keys();
    if (this.#keys.size > KEY_CACHE_SIZE && first !== undefined) this.#keys.delete(first);
    return key;
  }
}
