import { atLeast, atMost, exactly, type Figure, progress } from './figure.ts';
import { type Sender, serveKey, steadily } from './traffic.ts';

/** DynamoDB takes some 1,000 writes a second to one item; beyond them it throttles. Here it does so a little earlier. */
const MOST_WRITES_PER_SECOND = 1_000;
const WRITES_PER_SECOND = 900;
const ENVIRONMENTS = [10, 67, 300];
const CLIENTS = [100, 1_000];
const BURSTS = [1_001, 5_000, 60_000];
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
  return [...(await atTheLimit()), ...(await steadyTraffic()), ...(await bursts()), ...(await burstsBeforeTrickles())];
}

/** A minute of steady load that uses the limit up. */
async function atTheLimit(): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [perMinute, environments, maxWrites] of [
    [60, 1, 1_020],
    [1_000, 1, 1_020],
    [300_000, 300, 200],
    [1_000_000, 67, 20],
  ] as const) {
    const what = `${label(perMinute)} a minute from ${environments} environment${environments === 1 ? '' : 's'}`;
    const load = steadily(perMinute / 60);
    const { writes, mostWritesInASecond } = await serveMinute(what, perMinute, environments, load);
    figures.push(
      atMost(`${what}: writes per 1,000 requests`, (writes / perMinute) * 1_000, maxWrites),
      atMost(`${what}: most writes in a second`, mostWritesInASecond, MOST_WRITES_PER_SECOND),
    );
  }
  return figures;
}

/** Below a thousand requests a second. */
async function steadyTraffic(): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const environments of ENVIRONMENTS) {
    const what = `990 requests a second from ${environments} environments`;
    const perMinute = 19_800;
    const { admitted, failed } = await serveMinute(what, perMinute, environments, steadily(990));
    figures.push(
      atLeast(`${what}: share of the limit that is usable`, (admitted / perMinute) * 100, 99, ' %'),
      exactly(`${what}: answered with 503`, failed, 0),
    );
  }
  return figures;
}

/** Exactly as many requests at once as the limit allows, from few clients and many, over few environments and many. */
async function bursts(): Promise<Figure[]> {
  const figures: Figure[] = [];
  let failed = 0;
  let sent = 0;
  for (const routing of ['random', 'most recently used']) {
    for (const perMinute of BURSTS) {
      const what = `burst of ${label(perMinute)}, environments ${routing}`;
      let least = perMinute;
      for (const environments of ENVIRONMENTS)
        for (const clients of CLIENTS) {
          const title = `${what}: ${environments} of them, ${clients} clients`;
          const served = await serveMinute(title, perMinute, environments, { clients }, routing !== 'random');
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
    const inBurst = steadily(perSecond);
    const inTrickle = steadily(((perMinute - requests) * 1_000) / TRICKLE_MS);
    const load = (index: number) => inBurst(Math.min(index, requests)) + inTrickle(Math.max(index - requests, 0));
    let least: number = perMinute;
    for (const environments of ENVIRONMENTS)
      for (const isRecent of [false, true]) {
        const title = `${what}: ${environments} environments`;
        least = Math.min(least, (await serveMinute(title, perMinute, environments, load, isRecent)).admitted);
      }
    const lost = (1 - least / perMinute) * 100;
    figures.push(atMost(`${what}: most of the limit that is lost`, lost, requests > FAST_PER_SECOND ? 5 : 1.1, ' %'));
  }
  return figures;
}

/** As many requests as a minute has room for. */
function serveMinute(
  what: string,
  perMinute: number,
  environments: number,
  load: Sender['load'],
  isRecent = false,
): ReturnType<typeof serveKey> {
  progress(what);
  const key = { perMinute, perDay: 1_440 * perMinute };
  const settings = { environments, isRecent, writesPerSecond: WRITES_PER_SECOND };
  return serveKey(key, { requests: perMinute, load }, settings);
}

const label = (count: number): string => count.toLocaleString('en');
