import { type KeyRecord, unusedCounters } from '../../shared/keys/key-record.ts';
import { Limiter } from '../../shared/keys/limiter.ts';
import type { Verdict } from '../../shared/keys/verdict.ts';
import { aKey } from '../support/key-records.ts';
import { Random } from '../support/random.ts';
import { KeyAdmin } from './key-admin.ts';
import { type Caller, newCaller, type Tamper, VirtualDynamoDB } from './virtual-dynamodb.ts';
import type { Commit } from './virtual-tables.ts';
import { VirtualTime } from './virtual-time.ts';
import { CALM, someWeather } from './weather.ts';

/** One request, and what its client was told. */
export interface ToldVerdict {
  readonly keyHash: string;
  readonly environment: number;
  /** `requestTimeEpoch`: the time that API Gateway gives the request. */
  readonly epoch: number;
  readonly invokedAt: number;
  answeredAt: number;
  /** Calls of it that went wrong. */
  troubles: number;
  /** `failed`: what the authorizer answers with 503. `abandoned`: its environment was frozen before it had an answer. */
  outcome: Verdict | { readonly kind: 'failed'; readonly error: unknown } | { readonly kind: 'abandoned' };
}

export interface LimiterHistory {
  readonly told: readonly ToldVerdict[];
  readonly commits: readonly Commit[];
}

interface Environment {
  readonly caller: Caller;
  readonly limiter: Limiter;
  isBusy: boolean;
  lastUsed: number;
}

/** A request on its way to some environment: to the one used last, or to any. */
interface Arrival {
  readonly keyHash: string;
  readonly isRecent: boolean;
}

const TABLE = 'keys';
/** The clock of an API Gateway host is ahead by this at most, in milliseconds. */
export const MAX_AHEAD_MS = 300;
const DAY_END = Date.UTC(2026, 10, 22);

/** Many execution environments that count requests in one table, as a seed has it. */
export class LimiterSchedule {
  readonly #random: Random;
  readonly #time: VirtualTime;
  readonly #database: VirtualDynamoDB;
  readonly #admin: KeyAdmin;
  readonly #environments: Environment[];
  readonly #told: ToldVerdict[] = [];
  readonly #waiting: Arrival[] = [];
  readonly #isStorm: boolean;
  readonly #freezes: boolean;

  private constructor(seed: number, tamper?: Tamper) {
    const random = new Random(seed);
    this.#random = random;
    this.#isStorm = random.isLikely(0.15);
    const weather = random.isLikely(0.4) ? CALM : someWeather(random);
    this.#freezes = weather !== CALM && random.isLikely(0.4);
    this.#time = new VirtualTime(DAY_END - random.pick([61_000, 119_000, 3_600_000]) - random.below(60_000), random);
    this.#database = new VirtualDynamoDB({
      time: this.#time,
      random,
      weather: this.#isStorm ? { ...weather, latency: [0.2, 0.4] } : weather,
      writesPerSecond: random.pick([Infinity, Infinity, 1_000, 100]),
      ...(tamper && { tamper }),
    });
    this.#database.tables.createTable(TABLE, 'keyHash');
    const keys = [this.#aKey(), this.#aKey(), this.#aKey()];
    this.#admin = new KeyAdmin(this.#database.tables, TABLE, keys);
    this.#admin.putAll(this.#time.now);
    const environments = this.#isStorm ? 3 + random.below(6) : 1 + random.below(6);
    this.#environments = Array.from({ length: environments }, () => this.#anEnvironment());
  }

  static async run(seed: number, tamper?: Tamper): Promise<LimiterHistory> {
    const schedule = new LimiterSchedule(seed, tamper);
    schedule.#begin();
    await schedule.#time.run();
    return { told: schedule.#told, commits: schedule.#database.tables.commits };
  }

  #anEnvironment(): Environment {
    const caller = newCaller();
    const limiter = new Limiter(this.#database.clientOf(caller), TABLE);
    return { caller, limiter, isBusy: false, lastUsed: this.#time.now };
  }

  #aKey(): KeyRecord {
    const random = this.#random;
    const perMinute = this.#isStorm ? 100 + random.below(1_200) : 1 + random.below(random.pick([4, 12, 40]));
    const perDay = random.isLikely(0.3) ? 1 + random.below(perMinute * 2) : perMinute * (2 + random.below(50));
    const keyHash = random.next().toString(16).slice(2).padEnd(64, '0');
    return aKey({ ...unusedCounters, keyHash, keyId: keyHash.slice(0, 8), lineage: keyHash, perMinute, perDay });
  }

  #begin(): void {
    const random = this.#random;
    let at = this.#time.now;
    const phases = 2 + random.below(5);
    for (let phase = 0; phase < phases; phase++) {
      const gap = this.#isStorm ? random.pick([0.1, 0.3, 1]) : random.pick([1, 5, 40, 300]);
      const requests = this.#isStorm ? 40 + random.below(100) : 5 + random.below(40);
      const isRecent = random.isLikely(0.5);
      let hashes: readonly string[] = [];
      const begin = at;
      this.#time.at(begin, () => {
        hashes = this.#admin.someHashes(random);
      });
      for (let request = 0; request < requests; request++) {
        this.#time.at(at, () => {
          const keyHash = random.isLikely(0.02) ? '0'.repeat(64) : random.pick(hashes);
          this.#arrive({ keyHash, isRecent });
        });
        at += random.next() * 2 * gap;
      }
      if (random.isLikely(0.5)) {
        const when = begin + random.next() * (at - begin);
        this.#time.at(when, () => this.#admin.act(random, this.#time.now));
      }
      at += random.pick([0, 100, 1_100, 10_000, 60_000 - (at % 60_000), 60_000 - (at % 60_000), 301_000]);
    }
  }

  /** Hands a request to an environment that is free, or lets it wait until one is. */
  #arrive(arrival: Arrival): void {
    const free = this.#environments.filter(({ isBusy }) => !isBusy);
    const recent = free.toSorted((a, b) => b.lastUsed - a.lastUsed)[0];
    if (!recent) {
      this.#waiting.push(arrival);
      return;
    }
    const environment = arrival.isRecent ? recent : this.#random.pick(free);
    const hash = this.#random.isLikely(0.5) ? this.#admin.successorOf(arrival.keyHash) : arrival.keyHash;
    environment.isBusy = true;
    this.#time.at(this.#time.now, () => this.#send(environment, hash), environment.caller);
  }

  #release(environment: Environment): void {
    environment.isBusy = false;
    environment.lastUsed = this.#time.now;
    const next = this.#waiting.shift();
    if (next) this.#arrive(next);
  }

  #send(environment: Environment, keyHash: string): void {
    const { caller, limiter } = environment;
    const { now } = this.#time;
    if (this.#freezes && now - environment.lastUsed > 2_000) caller.isConnectionIdle = true;
    const troublesBefore = caller.troubles;
    const request: ToldVerdict = {
      keyHash,
      environment: this.#environments.indexOf(environment),
      epoch: this.#anEpoch(),
      invokedAt: now,
      answeredAt: Infinity,
      troubles: 0,
      outcome: { kind: 'abandoned' },
    };
    this.#told.push(request);
    let isAbandoned = false;
    const end = (outcome: ToldVerdict['outcome']): void => {
      if (isAbandoned) return;
      Object.assign(request, { outcome, answeredAt: this.#time.now, troubles: caller.troubles - troublesBefore });
      this.#release(environment);
    };
    limiter.admit(keyHash, request.epoch).then(end, (error: unknown) => end({ kind: 'failed', error }));
    if (!this.#freezes || !this.#random.isLikely(0.05)) return;
    this.#time.at(now + this.#random.next() * 10, () => {
      if (request.answeredAt !== Infinity) return;
      isAbandoned = true;
      caller.troubles += 1;
      caller.frozenUntil = this.#time.now + this.#random.pick([500, 5_000, 70_000]);
      caller.isConnectionIdle = true;
      // Lambda takes it up again for the next request, and what was left of this one goes on beside it.
      this.#time.at(caller.frozenUntil, () => this.#release(environment));
    });
  }

  #anEpoch(): number {
    const random = this.#random;
    const late = random.isLikely(0.03) ? random.below(90_000) : random.below(20);
    return Math.floor(this.#time.now + (random.isLikely(0.1) ? random.below(MAX_AHEAD_MS) : 0) - late);
  }
}

