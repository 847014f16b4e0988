import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { isConnectionGone, LAST_TRY_AFTER_MS } from '../dynamodb.ts';
import { CounterStore, ONE, type RequestTime, type Write } from './counter-store.ts';
import { type KeyRecord, MAX_SUCCESSORS } from './key-record.ts';
import { LEASE_MS, RememberedKey, type Unused } from './remembered-key.ts';
import { type CountingStep, nextStep, type Verdict } from './verdict.ts';
import { minuteOf } from './window.ts';

/**
 * How long a request goes on trying while DynamoDB throttles the item of a key that is not known to be good, in
 * milliseconds. Longer, and a flood with one such key would hold a function for each of its requests.
 */
const UNKNOWN_KEY = { tryMs: 300, longestPause: 20 };

/** Losing a race means that another request of the key got through, so a few rounds are always enough. */
const MAX_ROUNDS = 16;

/** Keys remembered at once, and denials beside them. Beyond them the one that was not used for longest is forgotten, with what is left of its lease. */
const MAX_REMEMBERED = 1_000;

/** The key that counts for one that was rotated. */
interface Successor {
  readonly keyHash: string;
  /** Unix milliseconds until which the rotated key need not be looked at again. */
  readonly until: number;
}

/** A key that was denied, for requests of these times: Unix milliseconds, the first included. */
interface Denial {
  readonly from: number;
  readonly until: number;
}

/** No key has this hash. */
const NO_KEY = '0'.repeat(64);

/**
 * Authenticates and counts requests, exactly: N concurrent requests of a key with room for L are admitted min(N, L)
 * times. Each decision is one conditional write; a request with room takes only that one. A key whose requests come
 * faster than one item can be written is leased: a write then takes several requests, for those that follow in this
 * execution environment. Whatever is refused is refused from memory for up to a second. The SDK client must not retry: a repeated increment would count twice.
 */
export class Limiter {
  readonly #counters: CounterStore;
  readonly #remembered = new Map<string, RememberedKey>();
  readonly #successors = new Map<string, Successor>();
  /** Apart from the good keys, so that a flood of made-up ones makes it forget none of those. */
  readonly #denials = new Map<string, Denial>();

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
    const denial = this.#denials.get(keyHash);
    if (denial && now >= denial.from && now < denial.until) return DENIED;
    const successor = this.#successors.get(keyHash);
    const home = successor && now < successor.until ? successor.keyHash : keyHash;
    const answered = this.#remembered.get(home)?.answer(now);
    if (answered) return answered;
    const begun = Date.now();
    try {
      return await this.#decide(keyHash, now, begun);
    } catch (error) {
      if (!isConnectionGone(error)) throw error;
      // The one repetition there is. Should the write have arrived after all, the request counts twice, but nothing is
      // given back twice: never too few.
      return this.#decide(keyHash, now, begun);
    }
  }

  /** Makes the same call on a key that there never is, which changes nothing. @throws what a request would fail with */
  async check(): Promise<void> {
    const now = Date.now();
    const time = { now, tryUntil: now + LAST_TRY_AFTER_MS };
    const call = () => this.#counters.countAdmitted(NO_KEY, { minute: minuteOf(now) }, ONE, time);
    await call().catch((error: unknown) => {
      if (!isConnectionGone(error)) throw error;
      return call();
    });
  }

  /** @param begun by this machine's clock: all of a request has its time from then on */
  async #decide(presented: string, now: number, begun: number): Promise<Verdict> {
    const lastTry = begun + LAST_TRY_AFTER_MS;
    let home = presented;
    let until = now + LEASE_MS;
    let successors = 0;
    let step = this.#firstStep(home, now);
    let unused = this.#remembered.get(home)?.end();
    for (let round = 0; round < MAX_ROUNDS && Date.now() <= lastTry; round++) {
      const { tryMs, ...pause } = UNKNOWN_KEY;
      const time = this.#remembered.has(home) ? { now, tryUntil: lastTry } : { now, tryUntil: begun + tryMs, ...pause };
      const { write, taken } = await this.#count(home, step, unused, time);
      if (write.done) {
        this.#denials.delete(presented);
        this.#rememberSuccessor(presented, { keyHash: home, until });
        if (step.kind === 'countAdmitted') return this.#remember(home, write.key).grant(write.key, taken, now);
        const key = await this.#counters.suspendIfRefusedTooOften(write.key, time);
        return this.#remember(home, key).refuse(key, now);
      }
      const { key } = write;
      const next = nextStep(key, now, begun);
      if (!key || next.kind === 'deny') return this.#deny(presented, key, now);
      if (next.kind === 'refuseSuspended') {
        this.#rememberSuccessor(presented, { keyHash: home, until });
        return this.#remember(home, key).refuse(key, now);
      }
      if (next.kind === 'follow') {
        successors += 1;
        if (successors > MAX_SUCCESSORS) return this.#deny(presented, key, now);
        until = Math.min(until, key.expiresAt ?? Infinity);
        home = next.keyHash;
        step = this.#firstStep(home, now);
        unused = this.#remembered.get(home)?.end();
      } else {
        this.#remember(home, key);
        step = next;
      }
    }
    throw new Error('No decision after many rounds of conditional writes on one key');
  }

  /** Remembers that a key is denied: one that has expired, no earlier than that. */
  #deny(presented: string, key: KeyRecord | undefined, now: number): Verdict {
    const { expiresAt = Infinity } = key ?? {};
    const from = Math.max(now - LEASE_MS, expiresAt <= now ? expiresAt : 0);
    putLast(this.#denials, presented, { from, until: now + LEASE_MS });
    this.#remembered.delete(presented);
    return DENIED;
  }

  #firstStep(home: string, now: number): CountingStep {
    return (
      this.#remembered.get(home)?.firstStep(now, Date.now()) ?? {
        kind: 'countAdmitted',
        window: { minute: minuteOf(now) },
      }
    );
  }

  async #count(
    home: string,
    { kind, window }: CountingStep,
    unused: Unused | undefined,
    time: RequestTime,
  ): Promise<{ write: Write; taken: number }> {
    const remembered = this.#remembered.get(home);
    if (kind === 'countRefused') {
      const refused = 1 + (remembered?.takeUncounted(window.minute) ?? 0);
      return { write: await this.#counters.countRefused(home, window, refused, time), taken: 0 };
    }
    const { taken, amount } = remembered?.amount(window, unused, time.now) ?? { taken: 1, amount: ONE };
    return { write: await this.#counters.countAdmitted(home, window, amount, time), taken };
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

const DENIED: Verdict = { kind: 'denied' };

/** Puts an entry behind all others, and forgets the first where there are too many. */
function putLast<Value>(entries: Map<string, Value>, key: string, value: Value): void {
  entries.delete(key);
  entries.set(key, value);
  if (entries.size <= MAX_REMEMBERED) return;
  const [first] = entries.keys();
  if (first !== undefined) entries.delete(first);
}
