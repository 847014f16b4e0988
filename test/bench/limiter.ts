import { LEASE_MS } from '../../shared/keys/lease.ts';
import { atLeast, atMost, exactly, type Figure, report } from './figure.ts';
import { type Routing, type Served, START, VirtualTraffic } from './virtual-traffic.ts';

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
  const figures: Figure[] = [];
  for (const environments of [1, 5]) {
    const requests = 300;
    const { writes } = await VirtualTraffic.serve({
      environments,
      routing: 'random',
      requests,
      load: { perSecond: 1_000 / (MINUTE_MS + 1_300) },
    });
    figures.push(atMost(`a request a minute from ${environments} environments: writes each`, writes / requests, 1.2));
  }
  return figures;
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
