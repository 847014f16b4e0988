import { startEmbeddedEngine } from '../../infra/local/dynamodb/engine.ts';
import { type Host, startHost } from '../../infra/local/host.ts';
import { stockItem } from '../../infra/table-items.ts';
import { writeItems } from '../../infra/write-items.ts';
import { MOST_READ_FOR_PAGE } from '../../shared/stores/sorted-table.ts';
import { newVersion } from '../../shared/stores/stock-store.ts';
import { CapacityMeter, type Consumed } from './capacity-meter.ts';
import { engineClient, manyPets } from './engine-client.ts';
import { atMost, exactly, type Figure } from './figure.ts';

const PETS = 10_000;
const REQUESTS = 50;
/** A random tag. */
const VERSION_BYTES = newVersion().length;
/** Entries that the bench asks of a page. */
const PAGE = 100;

/** Capacity that one request consumes, as the engine reports it, measured through the whole host. */
export async function benchCapacity(): Promise<Figure[]> {
  const engine = await startEmbeddedEngine(undefined);
  const meter = new CapacityMeter(engine.endpoint);
  const host = await startHost({
    host: '127.0.0.1',
    port: 0,
    dataFolder: undefined,
    dynamodb: await meter.listen(),
    sampleData: false,
  });
  try {
    const { StockTableName = '', KeysTableName = '' } = host.outputs;
    await writeItems(engineClient(engine.endpoint), StockTableName, manyPets(PETS), stockItem);
    await send(host, 'PATCH', '/inventory/1');
    meter.take();

    for (let request = 0; request < REQUESTS; request++) await send(host, 'PATCH', '/inventory/1');
    const updates = meter.take();
    await send(host, 'GET', '/inventory');
    const list = total(meter.take(), StockTableName, 'Query');
    await send(host, 'GET', '/inventory?status=available');
    const filteredList = total(meter.take(), StockTableName, 'Query');
    // Nothing beyond has the status that is asked for: as many items are read as may be.
    await writeItems(engineClient(engine.endpoint), StockTableName, allAvailable(), stockItem);
    meter.take();
    await send(host, 'GET', `/inventory?status=sold&limit=${PAGE}`);
    const filteredPage = total(meter.take(), StockTableName, 'Query');
    return [
      exactly('authorizer, an admitted request: write units', perRequest(updates, KeysTableName, 'UpdateItem'), 1),
      exactly('authorizer, an admitted request: read units', perRequest(updates, KeysTableName, 'GetItem'), 0),
      exactly('update: write units', perRequest(updates, StockTableName, 'UpdateItem'), 1),
      atMost(
        `list of ${PETS.toLocaleString('en')} pets: read units (size ÷ 8 kB, rounded up)`,
        list,
        Math.ceil(expectedListUnits()),
      ),
      exactly('list by status ÷ whole list: read units', filteredList / list, 1),
      atMost(
        `page of a status that nothing has ÷ ${MOST_READ_FOR_PAGE.toLocaleString('en')} of ${PETS.toLocaleString('en')} pets: read units`,
        filteredPage / ((list * MOST_READ_FOR_PAGE) / PETS),
        1.2,
      ),
    ];
  } finally {
    await host.close();
    meter.close();
    await engine.close();
  }
}

function* allAvailable() {
  for (const entry of manyPets(PETS)) yield { ...entry, status: 'available' as const };
}

async function send({ baseUrl, keys }: Host, method: string, path: string): Promise<void> {
  const response = await fetch(`${baseUrl}${path}`, {
    method,
    headers: { Authorization: `Bearer ${keys.business}`, 'Content-Type': 'application/json' },
    ...(method === 'PATCH' && { body: '{"quantity":5}' }),
  });
  await response.arrayBuffer();
  if (response.status !== 200) throw new Error(`${method} ${path} answered ${response.status}`);
}

function total(consumed: readonly Consumed[], table: string, operation: string): number {
  const matching = consumed.filter((entry) => entry.table === table && entry.operation === operation);
  return matching.reduce((sum, { units }) => sum + units, 0);
}

const perRequest = (consumed: readonly Consumed[], table: string, operation: string): number =>
  total(consumed, table, operation) / REQUESTS;

/**
 * By DynamoDB's rules an item is its attribute names and values; a number is a byte per two digits and one more. Every
 * Query is rounded up: the first reads 1,000 items, the others 2,000.
 */
function expectedListUnits(): number {
  const names = 'storeIdpetIdquantitystatusversion'.length + 'main'.length + VERSION_BYTES;
  const bytesOfQueries: number[] = [];
  for (const { petId, quantity, status } of manyPets(PETS)) {
    const current = petId === '1' ? 5 : quantity;
    const query = Math.floor((Number(petId) + 999) / 2_000);
    const bytes = names + numberBytes(petId) + numberBytes(current) + status.length;
    bytesOfQueries[query] = (bytesOfQueries[query] ?? 0) + bytes;
  }
  return bytesOfQueries.reduce((sum, bytes) => sum + Math.ceil(bytes / 4_096) / 2, 0);
}

function numberBytes(value: number | string): number {
  const digits = String(value).replace(/0+$/, '').length;
  return Math.ceil(digits / 2) + 1;
}
