import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { bundleOf } from '../../infra/stack/bundle.ts';
import { bulkShare } from '../../infra/stack/usage-plans.ts';
import { stages } from '../../infra/stages.ts';
import { writeItems } from '../../infra/write-items.ts';
import { stockItem } from '../../shared/stores/stock-store.ts';
import { dynamoDBError, FaultyEngine } from '../support/faulty-engine.ts';
import { documentsAt } from '../support/local-host.ts';
import { aProxyEvent } from '../support/proxy-event.ts';
import { createStockTable } from '../support/tables.ts';
import { ExecutionEnvironment } from './execution-environment.ts';
import { atMost, exactly, type Figure, p99, progress, report } from './figure.ts';
import { manyPets } from './listing.ts';

const ROWS = 25;
const TURNS = 4;
/** Updates of the other customer in a turn, and the milliseconds from one to the next. */
const UPDATES = 150;
const UPDATE_MS = 20;
/** What a partition of DynamoDB takes until it is split: units a second, and at once. */
const PARTITION = { perSecond: 1_000, atOnce: 100 };
/** Milliseconds that a call of DynamoDB takes beside the engine's own. */
const latency = (): number => 2 + Math.random() * 6;

/** Bulks of one key at once: more than it has in its share, of which each takes half a second. */
const OF_ONE_KEY = Math.ceil(bulkShare.rateLimit / 2);
const OF_ALL_KEYS = stages.production.bulksAtOnce ?? Number.NaN;

const throttled = dynamoDBError(400, 'ProvisionedThroughputExceededException');

/** What a customer who updates one pet after the other finds, and what the partition had to take meanwhile. */
interface Seen {
  readonly times: number[];
  failed: number;
  writes: number;
  throttled: number;
  seconds: number;
}

/**
 * What bulks that are sent flat out do to the updates of another customer, on one partition: with as many functions as one
 * key may hold, and as all keys together may, in turn with none.
 */
export async function benchBulks(): Promise<Figure[]> {
  const engine = await FaultyEngine.start();
  const partition = boundPartition(engine);
  const documents = documentsAt(engine.endpoint);
  const table = await createStockTable(documents);
  await writeItems(documents, table, manyPets(2 * ROWS), stockItem);
  documents.destroy();
  const start = (name: string, event: object) => {
    const file = join(bundleOf(name), 'index.mjs');
    return ExecutionEnvironment.start({ file, event, streams: false, status: 200 }, engine.endpoint, {
      STOCK_TABLE: table,
    });
  };
  const update = await start('update-inventory', updateEvent);
  const bulks = await Promise.all(Array.from({ length: OF_ALL_KEYS }, () => start('update-inventories', bulkEvent)));
  const seen = new Map([0, OF_ONE_KEY, OF_ALL_KEYS].map((count) => [count, nothingSeen()]));
  for (let turn = 0; turn <= TURNS; turn++) {
    progress(`turn ${turn} of ${TURNS}`);
    for (const [count, ofCount] of seen) {
      // The first turn warms up.
      await updateBeside(bulks.slice(0, count), update, partition, turn === 0 ? nothingSeen() : ofCount);
    }
  }
  await Promise.all([update, ...bulks].map((environment) => environment.close()));
  await engine.stop();
  return figures(seen);
}

const nothingSeen = (): Seen => ({ times: [], failed: 0, writes: 0, throttled: 0, seconds: 0 });

const json = { 'Content-Type': 'application/json' };
const updateEvent = aProxyEvent({
  method: 'PATCH',
  pathParameters: { petId: String(2 * ROWS) },
  headers: json,
  body: '{"quantity":5}',
});
const bulkEvent = aProxyEvent({
  method: 'PATCH',
  headers: json,
  body: JSON.stringify(Array.from({ length: ROWS }, (_, index) => ({ petId: index + 1, quantity: 5 }))),
});

/** Lets the engine throttle writes as one partition does, and counts them. */
function boundPartition(engine: FaultyEngine) {
  const counts = { writes: 0, throttled: 0 };
  let tokens = PARTITION.atOnce;
  let refilledAt = performance.now();
  engine.beforeCall = () => sleep(latency());
  engine.faults = ({ action }) => {
    engine.calls.length = 0;
    if (action !== 'UpdateItem') return undefined;
    const now = performance.now();
    tokens = Math.min(PARTITION.atOnce, tokens + ((now - refilledAt) / 1_000) * PARTITION.perSecond);
    refilledAt = now;
    counts[tokens < 1 ? 'throttled' : 'writes'] += 1;
    if (tokens < 1) return throttled;
    tokens -= 1;
    return undefined;
  };
  return counts;
}

/** Sends updates at a steady rate, while bulks come one after the other in each of their environments. */
async function updateBeside(
  bulks: readonly ExecutionEnvironment[],
  update: ExecutionEnvironment,
  partition: { readonly writes: number; readonly throttled: number },
  seen: Seen,
): Promise<void> {
  const before = { ...partition, at: performance.now() };
  const over = new AbortController();
  const flatOut = async (environment: ExecutionEnvironment): Promise<void> => {
    while (!over.signal.aborted) await environment.call();
  };
  const running = Promise.all(bulks.map(flatOut));
  for (let count = 0; count < UPDATES; count++) {
    const [answer] = await Promise.allSettled([update.call(), sleep(UPDATE_MS)]);
    if (answer.status === 'fulfilled') seen.times.push(answer.value.total);
    else seen.failed += 1;
  }
  seen.writes += partition.writes - before.writes;
  seen.throttled += partition.throttled - before.throttled;
  seen.seconds += (performance.now() - before.at) / 1_000;
  over.abort();
  await running;
}

function figures(seen: ReadonlyMap<number, Seen>): Figure[] {
  const alone = p99(seen.get(0)?.times ?? []);
  return [...seen].flatMap(([count, { failed, writes, throttled: refused, seconds, times }]) => {
    if (count === 0) return [report('updates without bulks: p99', alone, ' ms')];
    const what = `updates beside ${count} bulks at once, of ${count === OF_ONE_KEY ? 'one key' : 'all keys'}`;
    const ratio = p99(times) / alone;
    return [
      count === OF_ONE_KEY
        ? atMost(`${what}: p99 ÷ without them`, ratio, 2)
        : report(`${what}: p99 ÷ without them`, ratio),
      exactly(`${what}: answered with an error`, failed, 0),
      atMost(`${what}: writes a second to the partition`, writes / seconds, PARTITION.perSecond),
      report(`${what}: writes throttled`, refused),
    ];
  });
}
