import { marshall } from '@aws-sdk/util-dynamodb';
import type { KeyRecord } from '../../shared/keys/key-record.ts';
import { LEASE_MS } from '../../shared/keys/remembered-key.ts';
import { Limiter } from '../../shared/keys/limiter.ts';
import type { Verdict } from '../../shared/keys/verdict.ts';
import { Environments } from '../model/environments.ts';
import { GOOD_NETWORK, VirtualDynamoDB } from '../model/virtual-dynamodb.ts';
import { VirtualTime } from '../model/virtual-time.ts';
import { Random } from '../support/random.ts';
import { aKey, tokenOf } from '../support/tables.ts';
import { atLeast, atMost, exactly, type Figure, progress } from './figure.ts';

/** DynamoDB takes some 1,000 writes a second to one item; beyond them it throttles. Here it does so a little earlier. */
const MOST_WRITES_PER_SECOND = 1_000;
const WRITES_PER_SECOND = 900;
const ENVIRONMENTS = [10, 67, 300];
const CLIENTS = [100, 1_000];
const BURSTS = [1_001, 5_000, 60_000];
const MINUTE_MS = 60_000;
/** Where more requests than this come in one second, leases must keep the writes down, at the cost of some of the limit. */
const FAST_PER_SECOND = 1_000;
/** Limits of a minute, of which so many requests come at once, at so many a second; the rest comes slowly. */
const PAUSED_BURSTS = [
  [300, 180, 1_500],
  [1_000, 300, 2_000],
  [1_000, 900, 1_500],
  [2_000, 400, 3_000],
  [6_000, 3_000, 5_000],
  [20_000, 400, 1_500],
  [60_000, 20_000, 10_000],
] as const;
/** The last request of such a minute comes this long after the first, in milliseconds. */
const TRICKLE_MS = 55_000;

/**
 * What keys cost in writes, and how much of their limits can be used, in virtual time: a call of DynamoDB takes 2 to 8
 * milliseconds, the function itself 1 to 3, and an item takes 900 writes a second, with 90 at once.
 */
export async function benchLimiter(): Promise<Figure[]> {
  return [
    ...(await atTheLimit()),
    ...(await slowKeys()),
    ...(await steadyTraffic()),
    ...(await fastFromMany()),
    ...(await bursts()),
    ...(await burstsBeforeTrickles()),
    ...(await refusedStorm()),
  ];
}

/** A minute of steady load that uses the limit up. */
async function atTheLimit(): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [perMinute, environments, maxWrites] of [
    [60, 1, 1_020],
    [1_000, 1, 1_020],
    [1_000_000, 67, 20],
  ] as const) {
    const what = `${label(perMinute)} a minute from ${environments} environment${environments === 1 ? '' : 's'}`;
    const load = { perSecond: perMinute / 60 };
    const { writes, mostWritesInASecond } = await serveMinute(what, perMinute, environments, load);
    figures.push(
      atMost(`${what}: writes per 1,000 requests`, (writes / perMinute) * 1_000, maxWrites),
      atMost(`${what}: most writes in a second`, mostWritesInASecond, MOST_WRITES_PER_SECOND),
    );
  }
  return figures;
}

/** A key that is used about once a minute, over some hours. */
async function slowKeys(): Promise<Figure[]> {
  const environments = 5;
  const requests = 300;
  const { writes } = await serve({ environments, requests, load: { perSecond: 1_000 / (MINUTE_MS + 1_300) } });
  return [atMost(`a request a minute from ${environments} environments: writes each`, writes / requests, 1.2)];
}

/** Below a thousand requests a second. */
async function steadyTraffic(): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const environments of ENVIRONMENTS) {
    const what = `990 requests a second from ${environments} environments`;
    const perMinute = 19_800;
    const { admitted, failed } = await serveMinute(what, perMinute, environments, { perSecond: 990 });
    figures.push(
      atLeast(`${what}: share of the limit that is usable`, (admitted / perMinute) * 100, 99, ' %'),
      exactly(`${what}: answered with 503`, failed, 0),
    );
  }
  return figures;
}

/** So many environments that each has a small part of the limit, which is used up. */
async function fastFromMany(): Promise<Figure[]> {
  const [perMinute, environments, perSecond] = [60_000, 300, 5_000];
  const what = `${label(perSecond)} requests a second from ${environments} environments`;
  progress(what);
  const key = { perMinute, perDay: 1_440 * perMinute };
  const { writes } = await serve({ key, environments, requests: perMinute, load: { perSecond } });
  return [atMost(`${what}: writes a second`, (writes / perMinute) * perSecond, MOST_WRITES_PER_SECOND)];
}

/** Exactly as many requests at once as the limit allows, from few clients and many, over few environments and many. */
async function bursts(): Promise<Figure[]> {
  const figures: Figure[] = [];
  let failed = 0;
  let sent = 0;
  for (const routing of ['random', 'most recently used'] as const) {
    for (const perMinute of BURSTS) {
      const what = `burst of ${label(perMinute)}, environments ${routing}`;
      let least = perMinute;
      for (const [environments, clients] of ENVIRONMENTS.flatMap((count) => CLIENTS.map((some) => [count, some]))) {
        const title = `${what}: ${environments} of them, ${clients} clients`;
        const served = await serveMinute(title, perMinute, environments ?? 0, { clients: clients ?? 0 }, routing);
        least = Math.min(least, served.admitted);
        failed += served.failed;
        sent += perMinute;
      }
      figures.push(atLeast(`${what}: least usable share`, (least / perMinute) * 100, 95, ' %'));
    }
  }
  return [...figures, atMost('all bursts together: answered with 503', (failed / sent) * 100, 0.1, ' %')];
}

/** A burst, and a trickle for the rest of the minute: what leases of the burst do not use must not be lost. */
async function burstsBeforeTrickles(): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [perMinute, requests, perSecond] of PAUSED_BURSTS) {
    const what = `${label(requests)} at ${label(perSecond)} a second, then slowly up to ${label(perMinute)} a minute`;
    const burst = { requests, perSecond };
    const load = { burst, perSecond: ((perMinute - requests) * 1_000) / TRICKLE_MS };
    let least: number = perMinute;
    for (const environments of ENVIRONMENTS)
      for (const routing of ['random', 'most recently used'] as const) {
        const title = `${what}: ${environments} environments, ${routing}`;
        least = Math.min(least, (await serveMinute(title, perMinute, environments, load, routing)).admitted);
      }
    const lost = (1 - least / perMinute) * 100;
    figures.push(atMost(`${what}: most of the limit that is lost`, lost, requests > FAST_PER_SECOND ? 5 : 1.1, ' %'));
  }
  return figures;
}

/** A key whose day is used up, and that goes on at 2,000 requests a second. */
async function refusedStorm(): Promise<Figure[]> {
  const environments = 20;
  const seconds = 10;
  const { writes, failed } = await serve({
    key: { perMinute: 1_000_000, perDay: 1_000, dayUsed: 1_000, currentMinute: Math.floor(START / MINUTE_MS) },
    environments,
    requests: 2_000 * seconds,
    load: { perSecond: 2_000 },
    writesPerSecond: WRITES_PER_SECOND,
  });
  const perSecond = writes / environments / (seconds + LEASE_MS / 1_000);
  return [
    atMost('2,000 refused requests a second: writes a second of one environment', perSecond, 2),
    exactly('2,000 refused requests a second: answered with 503', failed, 0),
  ];
}

/** As many requests as a minute has room for. */
function serveMinute(
  what: string,
  perMinute: number,
  environments: number,
  load: Traffic['load'],
  routing?: Traffic['routing'],
): Promise<Served> {
  progress(what);
  const key = { perMinute, perDay: 1_440 * perMinute };
  const writesPerSecond = WRITES_PER_SECOND;
  return serve({ key, environments, requests: perMinute, load, writesPerSecond, ...(routing && { routing }) });
}

const label = (count: number): string => count.toLocaleString('en');

interface Traffic {
  readonly key?: Partial<KeyRecord>;
  readonly environments: number;
  /** How Lambda chooses among the free execution environments. */
  readonly routing?: 'random' | 'most recently used';
  /** Requests in all. */
  readonly requests: number;
  /** So many clients at once, each sending its next request when the last is answered; or requests at a steady rate, after a burst. */
  readonly load: { readonly clients: number } | SteadyLoad;
  /** Writes a second that one item takes; beyond them DynamoDB throttles. */
  readonly writesPerSecond?: number;
}

interface SteadyLoad {
  readonly perSecond: number;
  readonly burst?: { readonly requests: number; readonly perSecond: number };
}

interface Served {
  readonly admitted: number;
  /** Requests that could not be counted: 503. */
  readonly failed: number;
  /** Writes that DynamoDB carried out, those whose condition was false included; not those that it throttled. */
  readonly writes: number;
  readonly mostWritesInASecond: number;
}

const TABLE = 'keys';
const START = Date.UTC(2025, 5, 15, 12, 34);

/** Requests of one key in virtual time, over execution environments that have one request at a time each. */
export async function serve(traffic: Traffic): Promise<Served> {
  const { environments: count, routing, requests, load, writesPerSecond = Infinity } = traffic;
  const random = new Random(1);
  const time = new VirtualTime(START, random);
  const writesBySecond = new Map<number, number>();
  const onExecuted = (): void => {
    const second = Math.floor(time.elapsed / 1_000);
    writesBySecond.set(second, (writesBySecond.get(second) ?? 0) + 1);
  };
  const database = new VirtualDynamoDB({ time, random, network: GOOD_NETWORK, writesPerSecond, onExecuted });
  const key = aKey(traffic.key);
  const token = tokenOf(key);
  database.tables.createTable(TABLE, 'recordId');
  database.tables.put(TABLE, marshall(key), START);
  const limiters = Array.from({ length: count }, () => new Limiter(database.client, TABLE));
  const environments = new Environments(time, random, count);
  const served = { admitted: 0, refused: 0, denied: 0, failed: 0 };

  const request = (): Promise<void> =>
    environments.invoke<void>(routing === 'most recently used', async ({ index, caller }) => {
      const admit = () => limiters[index]?.admit(token, Math.floor(time.now));
      const verdict: Verdict | undefined = await database.as(caller, 'authorizer', admit)?.catch(() => undefined);
      served[verdict?.kind ?? 'failed'] += 1;
      // What a function does besides asking the table.
      await time.sleep(1 + random.next() * 2);
    });
  let sent = 0;
  const client = async (): Promise<void> => {
    for (; sent < requests; await request()) sent += 1;
  };
  const sendSteadily = (steady: SteadyLoad): void => {
    if (sent === requests) return;
    time.at(dueAt(steady, sent), () => {
      void request();
      sendSteadily(steady);
    });
    sent += 1;
  };
  if ('perSecond' in load) sendSteadily(load);
  else for (let index = 0; index < load.clients; index++) time.at(START, () => void client());
  await time.run();
  const writes = [...writesBySecond.values()];
  return {
    ...served,
    writes: writes.reduce((total, value) => total + value, 0),
    mostWritesInASecond: Math.max(...writes),
  };
}

/** When a request of a steady load comes. */
function dueAt({ perSecond, burst = { requests: 0, perSecond: 1 } }: SteadyLoad, index: number): number {
  const ofBurst = Math.min(index, burst.requests);
  return START + (ofBurst * 1_000) / burst.perSecond + ((index - ofBurst) * 1_000) / perSecond;
}
