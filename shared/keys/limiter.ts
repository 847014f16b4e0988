import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { isConnectionGone } from '../dynamodb.ts';
import { CounterStore, ONE, type Write } from './counter-store.ts';
import { type KeyRecord, MAX_SUCCESSORS } from './key-record.ts';
import { LEASE_MS, RememberedKey, type Unused } from './remembered-key.ts';
import { type CountingStep, nextStep, type Verdict } from './verdict.ts';
import { minuteOf } from './window.ts';

/** Losing a race means that another request of the key got through, so a few rounds are always enough. */
const MAX_ROUNDS = 16;

/** Keys remembered at once. Beyond them the one that was not used for longest is forgotten, with what is left of its lease. */
const MAX_REMEMBERED = 1_000;

/** The key that counts for one that was rotated. */
interface Successor {
  readonly keyHash: string;
  /** Unix milliseconds until which the rotated key need not be looked at again. */
  readonly until: number;
}

/**
 * Authenticates and counts requests, exactly: N concurrent requests of a key with room for L are admitted min(N, L)
 * times. Each decision is one conditional write; a request with room takes only that one. A key whose requests come
 * faster than one item can be written is leased: a write then takes several requests, for those that follow in this
 * execution environment. The SDK client must not retry: a repeated increment would count twice.
 */
export class Limiter {
  readonly #counters: CounterStore;
  readonly #remembered = new Map<string, RememberedKey>();
  readonly #successors = new Map<string, Successor>();

  constructor(client: DynamoDBDocumentClient, tableName: string) {
    this.#counters = new CounterStore(client, tableName);
  }

  /**
   * Admits the request and counts it, or says why not.
   *
   * @param keyHash SHA-256 of the API key, 64 hex digits
   * @param now time of the request, Unix milliseconds
   * @throws whatever the SDK throws where the table cannot be reached; the request must then not be served
   */
  async admit(keyHash: string, now: number): Promise<Verdict> {
    const successor = this.#successors.get(keyHash);
    const home = successor && now < successor.until ? successor.keyHash : keyHash;
    const answered = this.#remembered.get(home)?.answer(now);
    if (answered) return answered;
    try {
      return await this.#decide(keyHash, now);
    } catch (error) {
      if (!isConnectionGone(error)) throw error;
      // The one repetition there is. Should the write have arrived after all, the request counts twice, but nothing is
      // given back twice: never too few.
      return this.#decide(keyHash, now);
    }
  }

  async #decide(presented: string, now: number): Promise<Verdict> {
    let home = presented;
    let until = now + LEASE_MS;
    let successors = 0;
    let step = this.#firstStep(home, now);
    let unused = this.#remembered.get(home)?.end();
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const { write, taken } = await this.#count(home, step, unused, now);
      if (write.done) {
        this.#rememberSuccessor(presented, { keyHash: home, until });
        if (step.kind === 'countAdmitted') return this.#remember(home, write.key).grant(write.key, taken, now);
        const key = await this.#counters.suspendIfRefusedTooOften(write.key, now);
        return this.#remember(home, key).refuse(key, now);
      }
      const { key } = write;
      const next = nextStep(key, now);
      if (!key || next.kind === 'deny') return { kind: 'denied' };
      if (next.kind === 'refuseSuspended') {
        this.#rememberSuccessor(presented, { keyHash: home, until });
        return this.#remember(home, key).refuse(key, now);
      }
      if (next.kind === 'follow') {
        successors += 1;
        if (successors > MAX_SUCCESSORS) return { kind: 'denied' };
        until = Math.min(until, key.expiresAt ?? Infinity);
        home = next.keyHash;
        step = this.#firstStep(home, now);
        unused = this.#remembered.get(home)?.end();
      } else {
        this.#remember(home, key);
        step = next;
      }
    }
    throw new Error(`No decision after ${MAX_ROUNDS} rounds of conditional writes on one key`);
  }

  #firstStep(home: string, now: number): CountingStep {
    return this.#remembered.get(home)?.firstStep(now) ?? { kind: 'countAdmitted', window: { minute: minuteOf(now) } };
  }

  async #count(
    home: string,
    { kind, window }: CountingStep,
    unused: Unused | undefined,
    now: number,
  ): Promise<{ write: Write; taken: number }> {
    const remembered = this.#remembered.get(home);
    if (kind === 'countRefused') {
      const refused = 1 + (remembered?.takeUncounted(window.minute) ?? 0);
      return { write: await this.#counters.countRefused(home, window, refused, now), taken: 0 };
    }
    const { taken, amount } = remembered?.amount(window, unused, now) ?? { taken: 1, amount: ONE };
    return { write: await this.#counters.countAdmitted(home, window, amount, now), taken };
  }

  #remember(keyHash: string, key: KeyRecord): RememberedKey {
    const remembered = this.#remembered.get(keyHash) ?? new RememberedKey(key);
    remembered.see(key);
    putLast(this.#remembered, keyHash, remembered);
    return remembered;
  }

  #rememberSuccessor(presented: string, successor: Successor): void {
    if (presented !== successor.keyHash) putLast(this.#successors, presented, successor);
  }
}

/** Puts an entry behind all others, and forgets the first where there are too many. */
function putLast<Value>(entries: Map<string, Value>, key: string, value: Value): void {
  entries.delete(key);
  entries.set(key, value);
  if (entries.size <= MAX_REMEMBERED) return;
  const [first] = entries.keys();
  if (first !== undefined) entries.delete(first);
}
