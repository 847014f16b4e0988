import { MAX_IDS } from '../../shared/contract/operations.ts';
import { MAX_UPDATES } from '../../shared/contract/inventory.ts';
import { MAX_BODY_BYTES } from '../../shared/http/json-body.ts';
import { encodeCursor } from '../../shared/http/list-query.ts';
import { int64, MIN_INT64 } from '../support/int64.ts';
import { LocalHost } from '../support/local-host.ts';
import { atMost, compared, type Figure, median, progress, type Size } from './figure.ts';

/** A batch update is written at a pace of its own, and 25 rows are many. */
const COUNTS = { whole: { rounds: 5, requests: 40, batches: 4 }, small: { rounds: 1, requests: 2, batches: 1 } };

interface Sent {
  readonly path: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

interface Case {
  /** The worst that a client can send, and the longest that is taken. */
  readonly worst: Sent;
  readonly good: Sent;
  readonly isBatch?: boolean;
}

/** Near what a request line, or all headers, may have. */
const LENGTH = 7_900;
const long = (text: string, length = LENGTH): string => text.repeat(Math.floor(length / text.length));

const list = (query: string): Sent => ({ path: `/inventory?${query}` });
const patch = (path: string, body: string): Sent => ({
  path,
  method: 'PATCH',
  headers: { 'Content-Type': 'application/json' },
  body,
});
const padded = (body: string): string => body.padEnd(MAX_BODY_BYTES, ' ');
const withHeader = (sent: Sent, name: string, value: string): Sent => ({
  ...sent,
  headers: { ...sent.headers, [name]: value },
});

const ENTRY = '/inventory/101';
const update = patch(ENTRY, '{"quantity":5}');
const cursor = encodeCursor({ list: 'listInventory', status: 'available', after: int64(MIN_INT64) });
const manyIds = Array.from({ length: MAX_IDS }, (_, index) => String(BigInt(MIN_INT64) + BigInt(index)));
const manyRows = Array.from({ length: MAX_UPDATES }, (_, index) => ({
  petId: 101 + index,
  quantity: 1,
  ifMatch: `"${'a'.repeat(98)}"`,
}));

const goodPage = list(`limit=1000&status=available&cursor=${cursor}`);
const goodUpdate = patch(ENTRY, padded('{"quantity":5}'));
const goodBatch = patch('/inventory', padded(JSON.stringify(manyRows)));

const cases: Readonly<Record<string, Case>> = {
  'ids with 7,900 commas': { worst: list(`petId=${long(',')}`), good: list(`petId=${manyIds.join(',')}`) },
  'limit of 7,900 characters': { worst: list(`limit=${long('x')}`), good: goodPage },
  'status given 900 times': { worst: list(long('status=x&')), good: goodPage },
  'cursor of 7,900 characters': { worst: list(`cursor=${long('x')}`), good: goodPage },
  'petId of 7,900 digits': { worst: { path: `/inventory/${long('9')}` }, good: { path: ENTRY } },
  'batch update of 5,000 empty rows': {
    worst: patch('/inventory', `[${long('{},', 15_000)}{}]`),
    good: goodBatch,
    isBatch: true,
  },
  'batch update of 25 rows with three errors each': {
    worst: patch('/inventory', `[${`{"petId":"${long('9', 500)}","quantity":"a","ifMatch":5},`.repeat(24)}{}]`),
    good: goodBatch,
    isBatch: true,
  },
  'update with a name of 16,000 characters': {
    worst: patch(ENTRY, `{"quantity":5,"${long('x', 16_000)}":1}`),
    good: goodUpdate,
  },
  'update with 16,000 digits': { worst: patch(ENTRY, `{"quantity":${long('9', 16_000)}}`), good: goodUpdate },
  'update with 8,000 numbers': { worst: patch(ENTRY, `{"quantity":[${long('1,', 16_000)}1]}`), good: goodUpdate },
  'update with 8,000 nested arrays': {
    worst: patch(ENTRY, `{"quantity":${long('[', 8_000)}${long(']', 8_000)}}`),
    good: goodUpdate,
  },
  'If-Match of 7,900 characters': {
    worst: withHeader(update, 'If-Match', long('"a",')),
    good: withHeader(goodUpdate, 'If-Match', '*'),
  },
  'If-None-Match of 7,900 characters': {
    worst: withHeader({ path: ENTRY }, 'If-None-Match', long('"a" ')),
    good: withHeader({ path: ENTRY }, 'If-None-Match', long('"a",')),
  },
  'Idempotency-Key of 7,900 characters': {
    worst: withHeader(update, 'Idempotency-Key', `"${long(String.raw`\"`)}`),
    good: withHeader(goodUpdate, 'Idempotency-Key', `"${String.raw`\"`.repeat(255)}"`),
  },
};

/** The processor time of the worst that a client can send, beside the longest good request, through the whole host. */
export async function benchParsers(size: Size): Promise<Figure[]> {
  progress('starting a server');
  const host = await LocalHost.start();
  try {
    const figures: Figure[] = [];
    for (const [what, one] of Object.entries(cases)) {
      progress(what);
      const figure = `${what}: CPU time ÷ that of the longest valid request`;
      figures.push(atMost(figure, await medianRatio(host, one, size), 2));
    }
    if (size === 'whole') return figures;
    // A batch update that writes 25 rows takes more than any parser.
    const ofSlower = await medianRatio(host, { worst: goodBatch, good: { path: ENTRY }, isBatch: true }, size);
    return compared(figures, 0, ofSlower);
  } finally {
    await host.close();
  }
}

async function medianRatio(host: LocalHost, { worst, good, isBatch = false }: Case, size: Size): Promise<number> {
  const { rounds, requests, batches } = COUNTS[size];
  const count = isBatch ? batches : requests;
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
