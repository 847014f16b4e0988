import { marshall } from '@aws-sdk/util-dynamodb';
import { LEASE_MS } from '../../shared/keys/lease.ts';
import { Limiter } from '../../shared/keys/limiter.ts';
import type { KeyRecord } from '../../shared/keys/key-record.ts';
import { type Caller, newCaller, VirtualDynamoDB } from '../model/virtual-dynamodb.ts';
import { VirtualTime } from '../model/virtual-time.ts';
import { CALM } from '../model/weather.ts';
import { aKey } from '../support/tables.ts';
import { Random } from '../support/random.ts';
import { atLeast, atMost, exactly, type Figure, report } from './figure.ts';

/** DynamoDB takes some 1,000 writes a second to one item; beyond them it throttles. Here it does so a little earlier. */
const MOST_WRITES_PER_SECOND = 1_000;
const WRITES_PER_SECOND = 900;
const ENVIRONMENTS = [10, 67, 300] as const;
const CLIENTS = [100, 1_000] as const;
const BURSTS = [1_001, 5_000, 20_000, 60_000] as const;
const ROUTINGS = ['random', 'most recently used'] as const satisfies readonly Routing[];
const MINUTE_MS = 60_000;

/**
 * What keys cost in writes, and how much of their limits can be used, in virtual time: a call of DynamoDB takes 2 to 8
 * milliseconds, the function itself 1 to 3, and an item takes 900 writes a second, with 90 at once.
 */
export async function benchLimiter(): Promise<Figure[]> {
  return [
    ...(await atTheLimit()),
    ...(await slowKeys()),
    ...(await steadyTraffic()),
    ...(await bursts()),
    ...(await refusedStorm()),
  ];
}

/** A minute of steady load that uses the limit up. */
async function atTheLimit(): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const { perMinute, environments, maxWrites } of [
    { perMinute: 60, environments: 1, maxWrites: 1_020 },
    { perMinute: 1_000, environments: 1, maxWrites: 1_020 },
    { perMinute: 1_000_000, environments: 67, maxWrites: 20 },
  ]) {
    const { admitted, writes, mostWritesInASecond } = await VirtualTraffic.serve({
      key: { perMinute, perDay: 1_440 * perMinute },
      environments,
      routing: 'random',
      requests: perMinute,
      load: { perSecond: perMinute / 60 },
      writesPerSecond: WRITES_PER_SECOND,
    });
    const what = `${label(perMinute)} a minute from ${environments} environment${environments === 1 ? '' : 's'}`;
    figures.push(
      atMost(`${what}: writes per 1,000 requests`, (writes / perMinute) * 1_000, maxWrites),
      atMost(`${what}: most writes in a second`, mostWritesInASecond, MOST_WRITES_PER_SECOND),
      atLeast(`${what}: share of the limit that is usable`, percent(admitted, perMinute), 99, ' %'),
    );
  }
  return figures;
}

/** A key that is used about once a minute, over some hours. */
async function slowKeys(): Promise<Figure[]> {
  const environments = 5;
  const requests = 300;
  const load = { perSecond: 1_000 / (MINUTE_MS + 1_300) };
  const { writes } = await VirtualTraffic.serve({ environments, routing: 'random', requests, load });
  return [atMost(`a request a minute from ${environments} environments: writes each`, writes / requests, 1.2)];
}

/** Below a thousand requests a second. */
async function steadyTraffic(): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const environments of ENVIRONMENTS) {
    const perMinute = 19_800;
    const { admitted, failed } = await serveBurst(perMinute, environments, 'random', { perSecond: 990 });
    const what = `990 requests a second from ${environments} environments`;
    figures.push(atLeast(`${what}: share of the limit that is usable`, percent(admitted, perMinute), 99, ' %'));
    figures.push(exactly(`${what}: answered with 503`, failed, 0));
  }
  return figures;
}

/** Exactly as many requests at once as the limit allows, from 100 and from 1,000 clients, over few environments and many. */
async function bursts(): Promise<Figure[]> {
  const figures: Figure[] = [];
  let failed = 0;
  for (const routing of ROUTINGS) {
    for (const perMinute of BURSTS) {
      const served: Served[] = [];
      for (const environments of ENVIRONMENTS) {
        for (const clients of CLIENTS) served.push(await serveBurst(perMinute, environments, routing, { clients }));
      }
      failed += served.reduce((total, one) => total + one.failed, 0);
      const usable = Math.min(...served.map(({ admitted }) => percent(admitted, perMinute)));
      figures.push(
        atLeast(`burst of ${label(perMinute)}, environments ${routing}: least usable share`, usable, 95, ' %'),
      );
    }
  }
  return [...figures, exactly('all bursts together: answered with 503', failed, 0)];
}

/** A key whose minute is used up, and that goes on at 2,000 requests a second. */
async function refusedStorm(): Promise<Figure[]> {
  const environments = 20;
  const seconds = 10;
  const { writes, failed, refused } = await VirtualTraffic.serve({
    key: { perMinute: 1_000_000, perDay: 1_000, dayUsed: 1_000, currentMinute: Math.floor(START / MINUTE_MS) },
    environments,
    routing: 'random',
    requests: 2_000 * seconds,
    load: { perSecond: 2_000 },
    writesPerSecond: WRITES_PER_SECOND,
  });
  const perSecond = writes / environments / (seconds + LEASE_MS / 1_000);
  return [
    atMost('2,000 refused requests a second: writes a second of one environment', perSecond, 2),
    exactly('2,000 refused requests a second: answered with 503', failed, 0),
    report('2,000 refused requests a second: refused', refused),
  ];
}

const serveBurst = (
  perMinute: number,
  environments: number,
  routing: Routing,
  load: { clients: number } | { perSecond: number },
): Promise<Served> =>
  VirtualTraffic.serve({
    key: { perMinute, perDay: 1_440 * perMinute },
    environments,
    routing,
    requests: perMinute,
    load,
    writesPerSecond: WRITES_PER_SECOND,
  });

const percent = (part: number, whole: number): number => (part / whole) * 100;

const label = (count: number): string => count.toLocaleString('en');

/** How Lambda chooses among the free execution environments: any; the one used last. */
type Routing = 'random' | 'most recently used';

interface Traffic {
  readonly key?: Partial<KeyRecord>;
  readonly environments: number;
  readonly routing: Routing;
  /** Requests in all. */
  readonly requests: number;
  /** So many clients at once, each sending its next request when the last is answered; or requests at a steady rate. */
  readonly load: { readonly clients: number } | { readonly perSecond: number };
  /** Writes a second that one item takes; beyond them DynamoDB throttles. */
  readonly writesPerSecond?: number;
}

interface Served {
  readonly admitted: number;
  readonly refused: number;
  /** Requests that could not be counted: 503. */
  readonly failed: number;
  /** Writes that DynamoDB carried out, those whose condition was false included; not those that it throttled. */
  readonly writes: number;
  readonly mostWritesInASecond: number;
}

const TABLE = 'keys';
const START = Date.UTC(2025, 5, 15, 12, 34);
/** What a function does besides asking the table, in milliseconds. */
const OWN_WORK_MS = [1, 2] as const;

interface Environment {
  readonly caller: Caller;
  readonly limiter: Limiter;
}

/** Requests of one key in virtual time, over execution environments that have one request at a time each. */
class VirtualTraffic {
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
    this.#time = new VirtualTime(START, this.#random);
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
    const index = routing === 'random' ? this.#random.below(last + 1) : last;
    const [environment] = this.#free.splice(index, 1);
    if (!environment) throw new Error('No environment is free');
    return environment;
  }
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
