import { MAX_UPDATES } from '../../shared/contract/inventory.ts';
import { MAX_BODY_BYTES } from '../../shared/http/json-body.ts';
import { LocalHost } from '../support/local-host.ts';
import { atMost, type Figure, median, progress, type Size } from './figure.ts';

/** Rounds, and requests of each; of batch updates, which have a pace of their own, a tenth. */
const COUNTS = { whole: { rounds: 5, requests: 40 }, small: { rounds: 1, requests: 2 } };

interface Sent {
  readonly path: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

const BATCH = '/inventory';
const ENTRY = '/inventory/101';
const patch = (path: string, body: string): Sent => ({
  path,
  method: 'PATCH',
  headers: { 'Content-Type': 'application/json' },
  body,
});
const batch = (body: string): Sent => patch(BATCH, body);
const update = (quantity: string): Sent => patch(ENTRY, `{"quantity":${quantity}}`);

const row = { quantity: 1, ifMatch: `"${'a'.repeat(98)}"` };
const manyRows = JSON.stringify(Array.from({ length: MAX_UPDATES }, (_, index) => ({ petId: 101 + index, ...row })));
const goodBatch = batch(manyRows.padEnd(MAX_BODY_BYTES));
const goodUpdate = patch(ENTRY, '{"quantity":5}'.padEnd(MAX_BODY_BYTES));
const badRow = `{"petId":"${'9'.repeat(500)}","quantity":"a","ifMatch":5}`;

/** The worst bodies that a client can send, and the longest that is taken. A suite proves each pattern linear. */
const cases: readonly (readonly [what: string, worst: Sent, good: Sent])[] = [
  ['batch update of 5,000 empty rows', batch(`[${'{},'.repeat(5_000)}{}]`), goodBatch],
  ['batch update of 25 rows with three errors each', batch(`[${`${badRow},`.repeat(24)}{}]`), goodBatch],
  ['update with 8,000 numbers', update(`[${'1,'.repeat(8_000)}1]`), goodUpdate],
  ['update with 8,000 nested arrays', update('['.repeat(8_000) + ']'.repeat(8_000)), goodUpdate],
];

/** The processor time of the worst bodies that a client can send, next to the longest good ones, through the host. */
export async function benchParsers(size: Size): Promise<Figure[]> {
  progress('starting a server');
  const host = await LocalHost.start();
  try {
    const figures: Figure[] = [];
    for (const [what, worst, good] of cases) {
      progress(what);
      const figure = `${what}: CPU time ÷ that of the longest valid request`;
      figures.push(atMost(figure, await medianRatio(host, worst, good, size), 2));
    }
    return figures;
  } finally {
    await host.close();
  }
}

async function medianRatio(host: LocalHost, worst: Sent, good: Sent, size: Size): Promise<number> {
  const { rounds, requests } = COUNTS[size];
  const count = worst.path === BATCH ? Math.ceil(requests / 10) : requests;
  const ratios: number[] = [];
  // In turn, so that what slows the machine down slows both; the first round is for the compiler.
  for (let round = 0; round <= rounds; round++) {
    const ofWorst = await processorTimeOf(host, worst, count, isParsed);
    const ratio = ofWorst / (await processorTimeOf(host, good, count, isDone));
    if (round > 0) ratios.push(ratio);
  }
  return median(ratios);
}

type Expectation = (status: number) => boolean;
const isDone: Expectation = (status) => status === 200;
/** Done, or refused for what it is: not for how often it comes. */
const isParsed: Expectation = (status) => status < 429;

/** Microseconds. @throws Error where a response is another than expected: something else was measured then */
async function processorTimeOf(
  { baseUrl, host }: LocalHost,
  sent: Sent,
  requests: number,
  isExpected: Expectation,
): Promise<number> {
  const { path, method = 'GET', body = null, headers } = sent;
  const own = { Authorization: `Bearer ${host.keys.enterprise}`, ...headers };
  const before = process.cpuUsage();
  for (let request = 0; request < requests; request++) {
    const response = await fetch(`${baseUrl}${path}`, { method, headers: own, body });
    await response.arrayBuffer();
    if (!isExpected(response.status)) throw new Error(`${path.slice(0, 40)} returned ${response.status}`);
  }
  const { user, system } = process.cpuUsage(before);
  return user + system;
}
