import { atMost, exactly, type Figure, progress, report } from './figure.ts';
import { type Sender, serveKey, steadily } from './traffic.ts';

/** DynamoDB takes some 1,000 writes a second to one item; beyond them it throttles. Here it does so a little earlier. */
const WRITES_PER_SECOND = 900;
const ENVIRONMENTS = [1, 10, 67, 300];
const RATES = [1, 16, 200, 800];
const BURST = 5_000;

/**
 * What keys cost in writes, in virtual time: a call of DynamoDB takes 2 to 8 milliseconds, the function itself 1 to 3, and
 * an item takes 900 writes a second, with 90 at once.
 */
export async function benchLimiter(): Promise<Figure[]> {
  return [...(await admissions()), ...(await newMinutes()), ...(await refusals()), ...(await bursts())];
}

/** A minute of steady load that uses the limit up. */
async function admissions(): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const perSecond of RATES) {
    const perMinute = 60 * perSecond;
    const what = `${label(perSecond)} admitted a second`;
    let most = 0;
    let failed = 0;
    for (const environments of ENVIRONMENTS.filter((count) => count * 100 >= perSecond)) {
      const load = { requests: perMinute, load: steadily(perSecond) };
      const served = await serveMinute(`${what}, ${environments} environments`, perMinute, environments, load);
      most = Math.max(most, served.writes / served.admitted);
      failed += served.failed;
    }
    figures.push(exactly(`${what}: most writes for each`, most, 1), exactly(`${what}: answered with 503`, failed, 0));
  }
  return figures;
}

/** Two minutes: an environment finds that another has begun the second one. */
async function newMinutes(): Promise<Figure[]> {
  const environments = 10;
  const load = { requests: 2 * 60 * 200, load: steadily(200) };
  const { writes, admitted } = await serveMinute('two minutes', 60 * 200, environments, load);
  return [report(`two minutes of 200 a second from ${environments} environments: more writes`, writes - admitted)];
}

/** A limit that is used up in the first second, and requests that go on at the same pace. */
async function refusals(): Promise<Figure[]> {
  const perMinute = 1_000;
  const requests = 60 * perMinute;
  const load = { requests, load: steadily(perMinute) };
  const { writes, admitted } = await serveMinute('refusals', perMinute, 10, load);
  return [atMost('1,000 a second, nearly all refused: writes for each refused', (writes - admitted) / requests, 0.02)];
}

/** As many requests at once as the limit allows: what one item cannot take is 503. */
async function bursts(): Promise<Figure[]> {
  const what = `burst of ${label(BURST)}`;
  const load = { requests: BURST, load: { clients: BURST } };
  const { admitted, failed, mostWritesInASecond } = await serveMinute(what, BURST, BURST, load);
  return [
    report(`${what} at once: admitted`, admitted),
    report(`${what} at once: answered with 503`, failed),
    atMost(`${what} at once: most writes in a second`, mostWritesInASecond, 1_000),
  ];
}

function serveMinute(
  what: string,
  perMinute: number,
  environments: number,
  sender: Omit<Sender, 'tokens'>,
): ReturnType<typeof serveKey> {
  progress(what);
  return serveKey({ perMinute, perDay: 1_440 * perMinute }, sender, {
    environments,
    writesPerSecond: WRITES_PER_SECOND,
  });
}

const label = (count: number): string => count.toLocaleString('en');
