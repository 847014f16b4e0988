import { stockItem } from '../../infra/table-items.ts';
import { writeItems } from '../../infra/write-items.ts';
import { engineClient, manyPets } from './engine-client.ts';
import { exactly, type Figure, report } from './figure.ts';
import { MeasuredHost } from './measured-host.ts';

const PETS = 10_000;
const REQUESTS = 50;

/** Capacity that one request consumes, as the engine reports it, measured through the whole host. */
export async function benchCapacity(): Promise<Figure[]> {
  const measured = await MeasuredHost.start();
  const { StockTableName = '', KeysTableName = '' } = measured.host.outputs;
  /** The units of one of so many requests, by table and operation. */
  const unitsOf = async (method: string, path: string, requests = 1): Promise<(name: string) => number> => {
    measured.consumed();
    for (let request = 0; request < requests; request++) await send(measured, method, path);
    const units = measured.consumed();
    return (name) =>
      units.reduce((sum, one) => (`${one.table} ${one.operation}` === name ? sum + one.units : sum), 0) / requests;
  };
  try {
    await writeItems(engineClient(measured.engine), StockTableName, manyPets(PETS), stockItem);
    await send(measured, 'PATCH', '/inventory/1');
    const ofUpdate = await unitsOf('PATCH', '/inventory/1', REQUESTS);
    const list = (await unitsOf('GET', '/inventory'))(`${StockTableName} Query`);
    return [
      exactly('authorizer, an admitted request: write units', ofUpdate(`${KeysTableName} UpdateItem`), 1),
      exactly('authorizer, an admitted request: read units', ofUpdate(`${KeysTableName} GetItem`), 0),
      exactly('update: write units', ofUpdate(`${StockTableName} UpdateItem`), 1),
      report(`list of ${PETS.toLocaleString('en')} pets: read units`, list),
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
