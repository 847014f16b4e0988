import { marshall } from '@aws-sdk/util-dynamodb';
import { Limiter } from '../../shared/keys/limiter.ts';
import type { KeyRecord } from '../../shared/keys/key-record.ts';
import { type Caller, newCaller, VirtualDynamoDB } from '../model/virtual-dynamodb.ts';
import { VirtualTime } from '../model/virtual-time.ts';
import { CALM } from '../model/weather.ts';
import { aKey } from '../support/key-records.ts';
import { Random } from '../support/random.ts';

/** How Lambda chooses among the free execution environments: any; the one used last; one after the other. */
export type Routing = 'random' | 'most recently used' | 'in turn';

export interface Traffic {
  readonly key?: Partial<KeyRecord>;
  readonly environments: number;
  readonly routing: Routing;
  /** Requests in all. */
  readonly requests: number;
  /** So many clients at once, each sending its next request when the last is answered; or requests at a steady rate. */
  readonly load: { readonly clients: number } | { readonly perSecond: number };
  /** Writes a second that one item takes; beyond them DynamoDB throttles. */
  readonly writesPerSecond?: number;
  readonly startsAt?: number;
}

export interface Served {
  readonly admitted: number;
  readonly refused: number;
  /** Requests that could not be counted: 503. */
  readonly failed: number;
  /** Writes that DynamoDB carried out, those whose condition was false included; not those that it throttled. */
  readonly writes: number;
  readonly mostWritesInASecond: number;
}

const TABLE = 'keys';
export const START = Date.UTC(2025, 5, 15, 12, 34);
/** What a function does besides asking the table, in milliseconds. */
const OWN_WORK_MS = [1, 2] as const;

interface Environment {
  readonly caller: Caller;
  readonly limiter: Limiter;
}

/** Requests of one key in virtual time, over execution environments that have one request at a time each. */
export class VirtualTraffic {
  readonly #traffic: Traffic;
  readonly #random = new Random(1);
  readonly #time: VirtualTime;
  readonly #database: VirtualDynamoDB;
  readonly #keyHash: string;
  readonly #free: Environment[];
  readonly #waiting: (() => void)[] = [];
  readonly #counts = { admitted: 0, refused: 0, denied: 0, failed: 0 };
  readonly #writesBySecond = new Map<number, number>();

  private constructor(traffic: Traffic) {
    this.#traffic = traffic;
    this.#time = new VirtualTime(traffic.startsAt ?? START, this.#random);
    const { writesPerSecond } = traffic;
    this.#database = new VirtualDynamoDB({
      time: this.#time,
      random: this.#random,
      weather: CALM,
      onExecuted: () => this.#countWrite(),
      ...(writesPerSecond !== undefined && { writesPerSecond }),
    });
    const { tables } = this.#database;
    tables.createTable(TABLE, 'keyHash');
    const key = aKey(traffic.key);
    this.#keyHash = key.keyHash;
    tables.execute(
      'PutItemCommand',
      { TableName: TABLE, Item: marshall(key) },
      { at: this.#time.now, writer: 'admin' },
    );
    this.#free = Array.from({ length: traffic.environments }, () => ({
      caller: newCaller(),
      limiter: new Limiter(this.#database.client, TABLE),
    }));
  }

  static async serve(traffic: Traffic): Promise<Served> {
    const served = new VirtualTraffic(traffic);
    served.#plan();
    await served.#time.run();
    const writes = [...served.#writesBySecond.values()];
    const { admitted, refused, failed } = served.#counts;
    return { admitted, refused, failed, writes: sum(writes), mostWritesInASecond: Math.max(...writes) };
  }

  #countWrite(): void {
    const second = Math.floor(this.#time.elapsed / 1_000);
    this.#writesBySecond.set(second, (this.#writesBySecond.get(second) ?? 0) + 1);
  }

  #plan(): void {
    const { load, requests } = this.#traffic;
    if ('perSecond' in load) {
      const { now } = this.#time;
      const plan = (request: number): void => {
        if (request === requests) return;
        this.#time.at(now + (request * 1_000) / load.perSecond, () => {
          void this.#request();
          plan(request + 1);
        });
      };
      plan(0);
      return;
    }
    let sent = 0;
    const client = async (): Promise<void> => {
      while (sent < requests) {
        sent += 1;
        await this.#request();
      }
    };
    for (let index = 0; index < load.clients; index++) this.#time.at(this.#time.now, () => void client());
  }

  async #request(): Promise<void> {
    while (this.#free.length === 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    const environment = this.#take();
    const { caller, limiter } = environment;
    const now = Math.floor(this.#time.now);
    const kind = await this.#database
      .as(caller, 'authorizer', () => limiter.admit(this.#keyHash, now))
      .then(
        (verdict) => verdict.kind,
        () => 'failed' as const,
      );
    this.#counts[kind] += 1;
    const [least, beyond] = OWN_WORK_MS;
    await this.#time.sleep(least + this.#random.next() * beyond);
    this.#free.push(environment);
    this.#waiting.shift()?.();
  }

  #take(): Environment {
    const { routing } = this.#traffic;
    const last = this.#free.length - 1;
    const index = routing === 'random' ? this.#random.below(last + 1) : routing === 'in turn' ? 0 : last;
    const [environment] = this.#free.splice(index, 1);
    if (!environment) throw new Error('No environment is free');
    return environment;
  }
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
