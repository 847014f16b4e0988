import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { isConnectionGone } from '../dynamodb.ts';
import { CounterStore, type Draw, type Write } from './counter-store.ts';
import type { KeyRecord } from './key-record.ts';
import { giveBack, isLeased, Leases, leaseSize, nothingToSettle, type Settlement } from './lease.ts';
import { nextStep, rateLimitOf, refusal, type Step, type Verdict } from './verdict.ts';
import { isSameDay, type Minute, minuteOf } from './window.ts';

/** A key may be rotated again before the last grace has ended; records in a circle lead nowhere. */
const MAX_SUCCESSORS = 5;

/** Losing a race means that another request of the key got through, so a few rounds are always enough. */
const MAX_ROUNDS = 8;

/** One request on its way to a verdict. */
interface Attempt {
  /** Hash of the key that the request came with. */
  readonly presented: string;
  readonly now: number;
  readonly settlement: Settlement;
  /** Hash of the key that counts it: that of the successor where the key was rotated. */
  home: string;
  /** Unix milliseconds at which a rotated key ends. */
  until: number;
  /** Rotations that were followed so far. */
  successors: number;
}

/** A write, and what an admitted request means by it: so many requests were taken. */
interface Outcome {
  readonly write: Write;
  readonly taken: number;
  /** Whether what was known of the record let the write succeed, unless others changed it meanwhile. */
  readonly informed: boolean;
}

/**
 * Authenticates and counts requests, exactly: N concurrent requests of a key with room for L are admitted min(N, L)
 * times. Each decision is one conditional write; a request with room takes only that one. A key whose limits are beyond
 * what one item can be written is leased: a write then takes several requests, for those that follow in this execution
 * environment. The SDK client must not retry: a repeated increment would count twice.
 */
export class Limiter {
  readonly #counters: CounterStore;
  readonly #leases = new Leases();
  #conflicts = 0;

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
    const remembered = this.#leases.use(keyHash, now);
    if (remembered) return remembered;
    const settlement = this.#leases.end(keyHash, now);
    const attempt: Attempt = { presented: keyHash, now, settlement, home: keyHash, until: Infinity, successors: 0 };
    try {
      return await this.#decide({ ...attempt });
    } catch (error) {
      if (!isConnectionGone(error)) throw error;
      // The one repetition there is. Should the write have arrived after all, the request counts twice, but nothing is
      // given back twice: never too few.
      return this.#decide({ ...attempt, settlement: { ...settlement, unused: 0, refused: 0 } });
    }
  }

  /**
   * Writes since this was last asked that lost to others: they went by a record as it had been read, or was remembered
   * of a lease, and it had changed meanwhile. The first write on a key that nothing is known of is none of them: that it
   * finds a new minute, or no room, is how it is meant to find out.
   */
  takeConflicts(): number {
    const conflicts = this.#conflicts;
    this.#conflicts = 0;
    return conflicts;
  }

  async #decide(attempt: Attempt): Promise<Verdict> {
    const { now } = attempt;
    let outcome = await this.#count(attempt);
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const { write, taken, informed } = outcome;
      if (write.done) return this.#admitted(attempt, write.key, taken);
      if (informed) this.#conflicts += 1;
      const { key } = write;
      const step = nextStep(key, now);
      if (!key || step.kind === 'deny') return { kind: 'denied' };
      if (step.kind === 'refuseSuspended') return this.#refused(attempt, key);

      if (step.kind === 'follow') {
        attempt.successors += 1;
        if (attempt.successors > MAX_SUCCESSORS) return { kind: 'denied' };
        attempt.home = step.keyHash;
        attempt.until = Math.min(attempt.until, key.expiresAt ?? Infinity);
        outcome = await this.#count(attempt);
      } else if (step.kind === 'count') {
        outcome = await this.#countKnown(attempt, key, step.minute);
      } else if (step.kind === 'rollOver' && step.admit) {
        outcome = await this.#rollOver(attempt, key, step.minute);
      } else {
        const refused = await this.#countRefusal(attempt, key, step);
        if (refused.done) return this.#refused(attempt, await this.#counters.suspendIfKnocking(refused.key, now));
        outcome = { write: refused, taken: 0, informed: true };
      }
    }
    throw new Error(`No decision after ${MAX_ROUNDS} rounds of conditional writes on one key`);
  }

  /** The first write on a key, which is known only if it is leased. */
  async #count(attempt: Attempt): Promise<Outcome> {
    const { home, now, settlement } = attempt;
    const known = settlement.key?.keyHash === home ? settlement.key : undefined;
    const minute = Math.max(minuteOf(now), known?.currentMinute ?? 0);
    if (known) {
      const outcome = await (known.currentMinute === minute
        ? this.#countKnown(attempt, known, minute)
        : this.#rollOver(attempt, known, minute));
      return { ...outcome, informed: admits(nextStep(known, now)) };
    }
    return { write: await this.#counters.count(home, now, minute), taken: 1, informed: false };
  }

  async #countKnown({ now, settlement }: Attempt, key: KeyRecord, minute: Minute): Promise<Outcome> {
    const { taken, draw } = drawFrom(key, settlement, minute);
    return { write: await this.#counters.take(key, draw, now), taken, informed: true };
  }

  async #rollOver({ now, settlement }: Attempt, key: KeyRecord, minute: Minute): Promise<Outcome> {
    const dayUsed = isSameDay(key.currentMinute, minute) ? key.dayUsed : 0;
    const { taken, draw } = drawFrom({ ...key, minuteUsed: 0, dayUsed }, settlement, minute);
    return { write: await this.#counters.rollOverAdmitting(key, draw, now, minute), taken, informed: true };
  }

  #countRefusal({ now, settlement }: Attempt, key: KeyRecord, step: Step & { minute: Minute }): Promise<Write> {
    if (step.kind === 'rollOver') return this.#counters.rollOverRefusing(key, now, step.minute);
    const unwritten = settlement.key?.currentMinute === step.minute ? settlement.refused : 0;
    return this.#counters.countRefusals(key.keyHash, 1 + unwritten, now, step.minute);
  }

  #admitted({ presented, now, settlement, until }: Attempt, key: KeyRecord, taken: number): Verdict {
    if (!isLeased(key)) return { kind: 'admitted', key, rateLimit: rateLimitOf(key) };
    return this.#leases.grant(presented, key, { taken, wanted: settlement.wanted, now, until });
  }

  #refused({ presented, now, settlement, until }: Attempt, key: KeyRecord): Verdict {
    const verdict = refusal(key, now);
    if (isLeased(key)) this.#leases.refuse(presented, verdict, { wanted: settlement.wanted, now, until });
    return verdict;
  }
}

const admits = (step: Step): boolean => step.kind === 'count' || (step.kind === 'rollOver' && step.admit);

/** What one write takes from the windows for this request and those to follow, less what an earlier lease left over. */
function drawFrom(key: KeyRecord, settlement: Settlement, minute: Minute): { taken: number; draw: Draw } {
  // Only to the counters that they were taken from: not to those of a key made again, nor of another that counts for it.
  const isSame = settlement.key?.keyHash === key.keyHash && settlement.key.keyId === key.keyId;
  const { ofMinute, ofDay } = giveBack(isSame ? settlement : nothingToSettle, minute);
  const room = Math.min(key.perMinute - key.minuteUsed + ofMinute, key.perDay - key.dayUsed + ofDay);
  const taken = isLeased(key) ? leaseSize(room, settlement.wanted) : 1;
  return { taken, draw: { ofMinute: taken - ofMinute, ofDay: taken - ofDay } };
}
