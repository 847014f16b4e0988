import { randomUUID } from 'node:crypto';
import { startEmbeddedEngine } from '../../infra/local/dynamodb/engine.ts';
import { stockItem } from '../../infra/table-items.ts';
import { writeItems } from '../../infra/write-items.ts';
import { ServiceError } from '../../shared/contract/errors.ts';
import { documentClient } from '../../shared/dynamodb.ts';
import { IdempotentUpdates } from '../../shared/stores/idempotent-updates.ts';
import { MOST_READ_FOR_PAGE } from '../../shared/stores/sorted-table.ts';
import { StockStore, type StockUpdate } from '../../shared/stores/stock-store.ts';
import { createRequestsTable, createStockTable } from '../support/tables.ts';
import { engineClient, manyPets, pointSdkAt } from './engine-client.ts';
import { atMost, exactly, type Figure, report } from './figure.ts';
import { MeasuredHost } from './measured-host.ts';

const PETS = 10_000;
const REQUESTS = 50;
/** Entries that the bench asks of a page. */
const PAGE = 100;

/** Capacity that one request consumes, as the engine reports it, measured through the whole host. */
export async function benchCapacity(): Promise<Figure[]> {
  const measured = await MeasuredHost.start();
  const { StockTableName = '', KeysTableName = '' } = measured.host.outputs;
  const stock = [...manyPets(PETS)];
  const load = (entries: typeof stock) => writeItems(engineClient(measured.engine), StockTableName, entries, stockItem);
  /** The units of one of so many requests, by table and operation. */
  const unitsOf = async (method: string, path: string, requests = 1): Promise<(name: string) => number> => {
    measured.consumed();
    for (let request = 0; request < requests; request++) await send(measured, method, path);
    const units = measured.consumed();
    return (name) =>
      units.reduce((sum, one) => (`${one.table} ${one.operation}` === name ? sum + one.units : sum), 0) / requests;
  };
  try {
    await load(stock);
    await send(measured, 'PATCH', '/inventory/1');
    const ofUpdate = await unitsOf('PATCH', '/inventory/1', REQUESTS);
    const query = `${StockTableName} Query`;
    const list = (await unitsOf('GET', '/inventory'))(query);
    const filteredList = (await unitsOf('GET', '/inventory?status=available'))(query);
    // Nothing beyond has the status that is asked for: as many items are read as may be.
    await load(stock.map(({ petId, quantity }) => ({ petId, quantity, status: 'available' })));
    const filteredPage = (await unitsOf('GET', `/inventory?status=sold&limit=${PAGE}`))(query);
    const pets = PETS.toLocaleString('en');
    const most = MOST_READ_FOR_PAGE.toLocaleString('en');
    return [
      exactly('authorizer, an admitted request: write units', ofUpdate(`${KeysTableName} UpdateItem`), 1),
      exactly('authorizer, an admitted request: read units', ofUpdate(`${KeysTableName} GetItem`), 0),
      exactly('update: write units', ofUpdate(`${StockTableName} UpdateItem`), 1),
      report(`list of ${pets} pets: read units`, list),
      atMost('list by status ÷ whole list: read units', filteredList / list, 1),
      atMost(
        `page of a status that nothing has ÷ ${most} of ${pets} pets: read units`,
        filteredPage / ((list * MOST_READ_FOR_PAGE) / PETS),
        1.2,
      ),
    ];
  } finally {
    await measured.close();
  }
}

async function send({ host: { baseUrl, keys } }: MeasuredHost, method: string, path: string): Promise<void> {
  const headers = { Authorization: `Bearer ${keys.business}`, 'Content-Type': 'application/json' };
  const response = await fetch(`${baseUrl}${path}`, {
    method,
    headers,
    body: method === 'PATCH' ? '{"quantity":5}' : null,
  });
  await response.arrayBuffer();
  if (response.status !== 200) throw new Error(`${method} ${path} answered ${response.status}`);
}

const SECONDS = 3;
const CLIENTS = [1, 10, 50];

/**
 * Updates that one pet takes from clients that all update it at once, each as fast as it is answered. The embedded engine
 * carries out one write after the other: how often transactions collide on AWS, where it refuses those that overlap, it cannot tell.
 */
export async function benchOnePet(): Promise<Figure[]> {
  const engine = await startEmbeddedEngine(undefined);
  pointSdkAt(engine.endpoint);
  const client = documentClient({ maxAttempts: 1, requestTimeout: 3_000 });
  const stockTable = await createStockTable(client);
  const stock = new StockStore(client, stockTable);
  const idempotent = new IdempotentUpdates(client, stock, await createRequestsTable(client));
  await writeItems(engineClient(engine.endpoint), stockTable, manyPets(1), stockItem);
  const ways: [string, (update: StockUpdate) => Promise<unknown>][] = [
    ['without an Idempotency-Key', (update) => stock.update(update)],
    ['with one each', (update) => idempotent.once({ requestId: randomUUID(), fingerprint: 'f' }, update)],
  ];
  const figures: Figure[] = [];
  for (const [way, apply] of ways) {
    for (const clients of CLIENTS) {
      const { done, refused } = await storm(clients, apply);
      const what = `one pet on the embedded engine, ${clients} clients at once, ${way}`;
      figures.push(report(`${what}: updates`, done / SECONDS, ' a second'));
      figures.push(report(`${what}: answered with 503`, (100 * refused) / (done + refused), ' %'));
    }
  }
  await engine.close();
  return figures;
}

async function storm(clients: number, apply: (update: StockUpdate) => Promise<unknown>) {
  const [pet] = manyPets(1);
  if (!pet) throw new Error('There is no pet');
  const end = performance.now() + SECONDS * 1_000;
  const counts = { done: 0, refused: 0 };
  const one = async (): Promise<void> => {
    for (let quantity = 0; performance.now() < end; quantity++) {
      try {
        await apply({ petId: pet.petId, quantity });
        counts.done += 1;
      } catch (error) {
        if (!(error instanceof ServiceError) || error.code !== 'SERVICE_UNAVAILABLE') throw error;
        counts.refused += 1;
      }
    }
  };
  await Promise.all(Array.from({ length: clients }, one));
  return counts;
}
