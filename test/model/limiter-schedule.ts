import { type KeyRecord, unusedCounters } from '../../shared/keys/key-record.ts';
import { Limiter } from '../../shared/keys/limiter.ts';
import type { Verdict } from '../../shared/keys/verdict.ts';
import { aKey } from '../support/tables.ts';
import { Random } from '../support/random.ts';
import { Environments, type Invocation } from './environments.ts';
import { KeyAdmin } from './key-admin.ts';
import { type Tamper, VirtualDynamoDB } from './virtual-dynamodb.ts';
import type { Commit } from './virtual-tables.ts';
import { VirtualTime } from './virtual-time.ts';
import { CALM, someWeather } from './weather.ts';

/** One request, and what its client was told; what `failed` is answered with 503. */
export interface ToldVerdict extends Invocation<Verdict> {
  readonly keyHash: string;
  /** `requestTimeEpoch`: the time that API Gateway gives the request. */
  readonly epoch: number;
}

export interface LimiterHistory {
  readonly told: readonly ToldVerdict[];
  readonly commits: readonly Commit[];
}

const TABLE = 'keys';
const UNKNOWN_KEY = '0'.repeat(64);
const DAY_END = Date.UTC(2026, 10, 22);
/** The clock of an API Gateway host is ahead by this at most, in milliseconds. */
export const MAX_AHEAD_MS = 300;
/** A request reaches the authorizer this much later than API Gateway, at most. */
const LATEST_MS = 90_000;

/** Many execution environments that count requests in one table, as a seed has it. */
export class LimiterSchedule {
  readonly #random: Random;
  readonly #time: VirtualTime;
  readonly #database: VirtualDynamoDB;
  readonly #admin: KeyAdmin;
  readonly #environments: Environments;
  readonly #limiters: Limiter[];
  readonly #told: ToldVerdict[] = [];
  /** Whether requests come as fast as they are answered, so that leases are taken. */
  readonly #isStorm: boolean;

  private constructor(seed: number, tamper?: Tamper) {
    const random = new Random(seed);
    this.#random = random;
    this.#isStorm = random.isLikely(0.15);
    const weather = random.isLikely(0.4) ? CALM : someWeather(random);
    this.#time = new VirtualTime(DAY_END - random.pick([61_000, 119_000, 3_600_000]) - random.below(60_000), random);
    this.#database = new VirtualDynamoDB({
      time: this.#time,
      random,
      weather: this.#isStorm ? { ...weather, latency: [0.2, 0.4] } : weather,
      writesPerSecond: random.pick([Infinity, Infinity, 1_000, 100]),
      ...(tamper && { tamper }),
    });
    this.#database.tables.createTable(TABLE, 'keyHash');
    this.#admin = new KeyAdmin(this.#database.tables, TABLE, [this.#aKey(), this.#aKey(), this.#aKey()]);
    this.#admin.putAll(this.#time.now);
    const count = this.#isStorm ? 3 + random.below(6) : 1 + random.below(6);
    this.#environments = new Environments({
      time: this.#time,
      random,
      count,
      freezes: weather !== CALM && random.isLikely(0.4),
    });
    this.#limiters = Array.from({ length: count }, () => new Limiter(this.#database.client, TABLE));
  }

  static async run(seed: number, tamper?: Tamper): Promise<LimiterHistory> {
    const schedule = new LimiterSchedule(seed, tamper);
    schedule.#plan();
    await schedule.#time.run();
    return { told: schedule.#told, commits: schedule.#database.tables.commits };
  }

  #aKey(): KeyRecord {
    const random = this.#random;
    const perMinute = this.#isStorm ? 100 + random.below(1_200) : 1 + random.below(random.pick([4, 12, 40]));
    const perDay = random.isLikely(0.3) ? 1 + random.below(perMinute * 2) : perMinute * (2 + random.below(50));
    const keyHash = random.next().toString(16).slice(2).padEnd(64, '0');
    const ends = random.isLikely(0.2) && { expiresAt: this.#time.now + random.below(100_000) };
    const identity = { keyHash, keyId: keyHash.slice(0, 8), lineage: keyHash, ...ends };
    return aKey({ ...unusedCounters, ...identity, perMinute, perDay });
  }

  /** Some bursts of requests, with pauses, and what admins do meanwhile. */
  #plan(): void {
    const random = this.#random;
    let at = this.#time.now;
    const bursts = 2 + random.below(4);
    for (let burst = 0; burst < bursts; burst++) {
      const begin = at;
      at = this.#planBurst(begin);
      if (random.isLikely(0.6)) {
        this.#time.at(begin + random.next() * (at - begin), () => this.#admin.act(random, this.#time.now));
      }
      at += random.pick([0, 100, 1_100, 10_000, 60_000 - (at % 60_000), 60_000 - (at % 60_000), 301_000]);
    }
  }

  /** Returns when it is over. */
  #planBurst(begin: number): number {
    const random = this.#random;
    const gap = this.#isStorm ? random.pick([0.1, 0.3, 1]) : random.pick([1, 5, 40, 300]);
    const requests = this.#isStorm ? 40 + random.below(100) : 5 + random.below(40);
    const isRecent = random.isLikely(0.5);
    let hashes: readonly string[] = [];
    this.#time.at(begin, () => {
      hashes = this.#admin.someHashes(random);
    });
    let at = begin;
    for (let request = 0; request < requests; request++) {
      this.#time.at(at, () => this.#send(random.isLikely(0.02) ? UNKNOWN_KEY : random.pick(hashes), isRecent));
      at += random.next() * 2 * gap;
    }
    return at;
  }

  #send(presented: string, isRecent: boolean): void {
    this.#environments.invoke<Verdict>(isRecent, ({ index, caller }, invocation) => {
      const keyHash = this.#random.isLikely(0.5) ? this.#admin.successorOf(presented) : presented;
      const epoch = this.#anEpoch();
      this.#told.push(Object.assign(invocation, { keyHash, epoch }));
      const limiter = this.#limiters[index];
      if (!limiter) throw new Error('There is no such environment');
      return this.#database.as(caller, `environment ${index}`, () => limiter.admit(keyHash, epoch));
    });
  }

  #anEpoch(): number {
    const random = this.#random;
    const ahead = random.isLikely(0.1) ? random.below(MAX_AHEAD_MS) : 0;
    const late = random.below(random.isLikely(0.03) ? LATEST_MS : 20);
    return Math.floor(this.#time.now + ahead - late);
  }
}
