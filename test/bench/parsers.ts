import { MAX_IDS } from '../../shared/contract/operations.ts';
import { MAX_UPDATES } from '../../shared/contract/inventory.ts';
import { MAX_BODY_BYTES } from '../../shared/http/json-body.ts';
import { encodeCursor } from '../../shared/http/list-query.ts';
import { int64, MIN_INT64 } from '../support/int64.ts';
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

/** Near what a request line, or all headers, may have. */
const LENGTH = 7_900;
const long = (text: string, length = LENGTH): string => text.repeat(Math.floor(length / text.length));

const list = (query: string): Sent => ({ path: `/inventory?${query}` });
const patch = (path: string, body: string, more: Readonly<Record<string, string>> = {}): Sent => ({
  path,
  method: 'PATCH',
  headers: { 'Content-Type': 'application/json', ...more },
  body,
});

const BATCH = '/inventory';
const ENTRY = '/inventory/101';
const goodBody = '{"quantity":5}'.padEnd(MAX_BODY_BYTES);
const update = (quantity: string, more = ''): Sent => patch(ENTRY, `{"quantity":${quantity}${more}}`);
const updateWith = (name: string, value: string, body = '{"quantity":5}'): Sent =>
  patch(ENTRY, body, { [name]: value });
const read = (etag: string): Sent => ({ path: ENTRY, headers: { 'If-None-Match': etag } });

const cursor = encodeCursor({ list: 'listInventory', status: 'available', after: int64(MIN_INT64) });
const manyIds = Array.from({ length: MAX_IDS }, (_, index) => String(BigInt(MIN_INT64) + BigInt(index)));
const row = { quantity: 1, ifMatch: `"${'a'.repeat(98)}"` };
const manyRows = JSON.stringify(Array.from({ length: MAX_UPDATES }, (_, index) => ({ petId: 101 + index, ...row })));

const goodPage = list(`limit=1000&status=available&cursor=${cursor}`);
const goodUpdate = patch(ENTRY, goodBody);
const goodBatch = patch(BATCH, manyRows.padEnd(MAX_BODY_BYTES));
const badRow = `{"petId":"${long('9', 500)}","quantity":"a","ifMatch":5}`;
const escaped = String.raw`\"`;

/** The worst that a client can send, and the longest that is taken. */
const cases: readonly (readonly [what: string, worst: Sent, good: Sent])[] = [
  ['ids with 7,900 commas', list(`petId=${long(',')}`), list(`petId=${manyIds.join(',')}`)],
  ['limit of 7,900 characters', list(`limit=${long('x')}`), goodPage],
  ['status given 900 times', list(long('status=x&')), goodPage],
  ['cursor of 7,900 characters', list(`cursor=${long('x')}`), goodPage],
  ['petId of 7,900 digits', { path: `/inventory/${long('9')}` }, { path: ENTRY }],
  ['batch update of 5,000 empty rows', patch(BATCH, `[${long('{},', 15_000)}{}]`), goodBatch],
  ['batch update of 25 rows with three errors each', patch(BATCH, `[${`${badRow},`.repeat(24)}{}]`), goodBatch],
  ['update with a name of 16,000 characters', update('5', `,"${long('x', 16_000)}":1`), goodUpdate],
  ['update with 16,000 digits', update(long('9', 16_000)), goodUpdate],
  ['update with 8,000 numbers', update(`[${long('1,', 16_000)}1]`), goodUpdate],
  ['update with 8,000 nested arrays', update(long('[', 8_000) + long(']', 8_000)), goodUpdate],
  ['If-Match of 7,900 characters', updateWith('If-Match', long('"a",')), updateWith('If-Match', '*', goodBody)],
  ['If-None-Match of 7,900 characters', read(long('"a" ')), read(long('"a",'))],
  [
    'Idempotency-Key of 7,900 characters',
    updateWith('Idempotency-Key', `"${long(escaped)}"`),
    updateWith('Idempotency-Key', `"${escaped.repeat(255)}"`, goodBody),
  ],
];

/** The processor time of the worst that a client can send, beside the longest good request, through the whole host. */
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
