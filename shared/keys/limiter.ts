import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { isConnectionGone, LAST_TRY_AFTER_MS } from '../dynamodb.ts';
import { CounterStore, ONE, type RequestTime, type Write } from './counter-store.ts';
import type { KeyRecord } from './key-record.ts';
import { LEASE_MS, RememberedKey, type Unused } from './remembered-key.ts';
import type { Token } from './token.ts';
import { type CountingStep, isDenied, nextStep, type Verdict } from './verdict.ts';
import { minuteOf } from './window.ts';

/**
 * How long a request goes on trying while DynamoDB throttles the item of a key that is not known to be good, in
 * milliseconds. Longer, and a flood with one such key would hold a function for each of its requests.
 */
const UNKNOWN_KEY = { tryMs: 300, longestPause: 20 };

/** Losing a race means that another request of the key got through, so a few rounds are always enough. */
const MAX_ROUNDS = 16;

/** Keys remembered at once, and as many items beside them. Beyond them the one that was not used for longest is forgotten, with what is left of its lease. */
const MAX_REMEMBERED = 1_000;

/** An item as a write found or left it; none of an unknown key. */
interface Sighting {
  readonly key: KeyRecord | undefined;
  /** Time of the request that wrote, Unix milliseconds. */
  readonly at: number;
}

/** No key has this token. */
const NO_TOKEN: Token = { recordId: '0'.repeat(64), hash: 'none', usageIdentifier: 'none' };

/**
 * Authenticates and counts requests, exactly: N concurrent requests of a key with room for L are admitted min(N, L)
 * times. Each decision is one conditional write, which asks for the key by its record id and for the token in its
 * condition; a request with room takes only that one. A key whose requests come faster than one item can be written is
 * leased: a write then takes several requests, for those that follow in this execution environment. Whatever is refused
 * is refused from memory for up to a second, and memory looks at the token first: one that is wrong or has ended uses no
 * lease and counts nothing. The SDK client must not retry: a repeated increment would count twice.
 */
export class Limiter {
  readonly #counters: CounterStore;
  readonly #remembered = new Map<string, RememberedKey>();
  /** Apart from the good keys, so that a flood of made-up ones makes it forget none of those. */
  readonly #seen = new Map<string, Sighting>();

  constructor(client: DynamoDBDocumentClient, tableName: string) {
    this.#counters = new CounterStore(client, tableName);
  }

  /**
   * Admits the request and counts it, or says why not.
   *
   * @param now time of the request, Unix milliseconds
   * @throws whatever the SDK throws where the table cannot be reached; the request must then not be served
   */
  async admit(token: Token, now: number): Promise<Verdict> {
    const seen = this.#seen.get(token.recordId);
    const isFresh = seen && now >= seen.at - LEASE_MS && now < seen.at + LEASE_MS;
    if (isFresh && isDenied(seen.key, token.hash, now)) return DENIED;
    const answered = this.#remembered.get(token.recordId)?.answer(token.hash, now);
    if (answered) return answered;
    const begun = Date.now();
    try {
      return await this.#decide(token, now, begun);
    } catch (error) {
      if (!isConnectionGone(error)) throw error;
      // The one repetition there is. Should the write have arrived after all, the request counts twice, but nothing is
      // given back twice: never too few.
      return this.#decide(token, now, begun);
    }
  }

  /** Makes the same call on a key that there never is, which changes nothing. @throws what a request would fail with */
  async check(): Promise<void> {
    const now = Date.now();
    const time = { now, tryUntil: now + LAST_TRY_AFTER_MS };
    const call = () => this.#counters.countAdmitted(NO_TOKEN, { minute: minuteOf(now) }, ONE, time);
    await call().catch((error: unknown) => {
      if (!isConnectionGone(error)) throw error;
      return call();
    });
  }

  /** @param begun by this machine's clock: all of a request has its time from then on */
  async #decide(token: Token, now: number, begun: number): Promise<Verdict> {
    const { recordId, hash } = token;
    const lastTry = begun + LAST_TRY_AFTER_MS;
    const { tryMs, ...pause } = UNKNOWN_KEY;
    // Nothing is taken or given back on the word of a token that is not known to work.
    let known = this.#remembered.get(recordId);
    if (!known?.holds(hash, now)) known = undefined;
    let step = known?.firstStep(now, begun) ?? firstStep(now);
    const unused = known?.end();
    for (let round = 0; round < MAX_ROUNDS && Date.now() <= lastTry; round++) {
      const time = known ? { now, tryUntil: lastTry } : { now, tryUntil: begun + tryMs, ...pause };
      const { write, taken } = await this.#count(token, known, step, unused, time);
      putLast(this.#seen, recordId, { key: write.key, at: now });
      if (write.done) {
        if (step.kind === 'countAdmitted') return this.#remember(write.key).grant(write.key, taken, now);
        const key = await this.#counters.suspendIfRefusedTooOften(token, write.key, time);
        return this.#remember(key).refuse(key, now);
      }
      const next = nextStep(write.key, hash, now, begun);
      if (!write.key || next.kind === 'deny') {
        // The lease is the key's, and its other tokens' too.
        known?.restore(unused);
        return DENIED;
      }
      known = this.#remember(write.key);
      if (next.kind === 'refuseSuspended') return known.refuse(write.key, now);
      step = next;
    }
    throw new Error('No decision after many rounds of conditional writes on one key');
  }

  async #count(
    token: Token,
    known: RememberedKey | undefined,
    { kind, window }: CountingStep,
    unused: Unused | undefined,
    time: RequestTime,
  ): Promise<{ write: Write; taken: number }> {
    if (kind === 'countRefused') {
      const refused = known?.takeRefusals(window.minute) ?? { count: 1 };
      return { write: await this.#counters.countRefused(token, window, refused, time), taken: 0 };
    }
    const { taken, amount } = known?.amount(window, unused, time.now) ?? { taken: 1, amount: ONE };
    return { write: await this.#counters.countAdmitted(token, window, amount, time), taken };
  }

  #remember(key: KeyRecord): RememberedKey {
    const remembered = this.#remembered.get(key.recordId) ?? new RememberedKey(key);
    remembered.update(key);
    putLast(this.#remembered, key.recordId, remembered);
    return remembered;
  }
}

const firstStep = (now: number): CountingStep => ({ kind: 'countAdmitted', window: { minute: minuteOf(now) } });

const DENIED: Verdict = { kind: 'denied' };

/** Puts an entry behind all others, and forgets the first where there are too many. */
function putLast<Value>(entries: Map<string, Value>, key: string, value: Value): void {
  entries.delete(key);
  entries.set(key, value);
  if (entries.size <= MAX_REMEMBERED) return;
  const [first] = entries.keys();
  if (first !== undefined) entries.delete(first);
}
