import { setTimeout as sleep } from 'node:timers/promises';
import { petItem } from '../../shared/stores/find-pet.ts';
import { orderItem } from '../../shared/stores/order-list.ts';
import { stockItem } from '../../shared/stores/stock-store.ts';
import { writeItems } from '../../infra/local/dynamodb/tables.ts';
import { generateToken } from '../../shared/keys/token.ts';
import { type Figure, format, progress, type Size } from './figure.ts';
import { manyPets } from './listing.ts';
import { MeasuredHost, type RequestKind } from './measured-host.ts';

const PETS = { whole: 10_000, small: 200 };
const PAGE = 100;
/** Rows of a batch update: 50 are written in a second. */
const BULK = { whole: 25, small: 1 };
/** After this time the lines about all requests are in the log files, in milliseconds. */
const LOGGED_MS = 500;

/**
 * What requests take: capacity, time, log lines and bytes, through the whole host. docs/operating/costs.md has them,
 * and what they cost. The time is that of this machine, whose threads and engine are not Lambda's and DynamoDB's.
 */
export async function benchCosts(size: Size): Promise<Figure[]> {
  progress('starting a server');
  const measured = await MeasuredHost.start(size);
  try {
    await load(measured, PETS[size]);
    return await measureRequests(measured, size);
  } finally {
    await measured.close();
  }
}

/** Each another: one that comes again within a second takes no write. */
const newKey = () => ({ Authorization: `Bearer ${generateToken()}` });

const mistypedKey = () => ({ Authorization: `Bearer ${generateToken().slice(0, -1)}-` });

async function measureRequests(measured: MeasuredHost, size: Size): Promise<Figure[]> {
  const { keys, baseUrl } = measured.host.host;
  const json = { 'Content-Type': 'application/json' };
  const onlyOnce = () => ({ ...json, 'Idempotency-Key': `"${crypto.randomUUID()}"` });
  const get = (path: string) => ({ key: keys.business, path, status: 200, invocations: 2 });
  const patch = { ...get('/inventory/1'), method: 'PATCH', body: '{"quantity":5}', headers: () => json };
  const adjust = { ...get('/inventory/1/adjustments'), method: 'POST', body: '{"by":1}', headers: () => json };
  const rows = manyPets(BULK[size]).map(({ petId }) => ({ petId: Number(petId), quantity: 5 }));
  const batch = { ...patch, path: '/inventory', body: JSON.stringify(rows), seconds: 40 };
  const ids = manyPets(PAGE).map(({ petId }) => petId);
  const kinds: Readonly<Record<string, Omit<RequestKind, 'name'>>> = {
    update: patch,
    'update with Idempotency-Key': { ...patch, headers: onlyOnce },
    adjustment: adjust,
    'adjustment with Idempotency-Key': { ...adjust, headers: onlyOnce },
    [`batch update of ${BULK[size]} pets`]: batch,
    [`batch update of ${BULK[size]} pets with Idempotency-Key`]: { ...batch, headers: onlyOnce },
    'stock of one pet': get('/inventory/1'),
    [`stock of ${PAGE} pets by id`]: get(`/inventory?petId=${ids.join(',')}`),
    'one pet': get('/pets/1'),
    [`page of ${PAGE} pets`]: get(`/inventory?limit=${PAGE}`),
    [`page of ${PAGE} orders`]: get(`/store/orders?limit=${PAGE}`),
    [`list of ${format(PETS[size])} pets`]: get('/inventory'),
    'denied: mistyped key (401)': { path: '/inventory', key: '', headers: mistypedKey, status: 401, invocations: 1 },
    'denied: unknown key (401)': { path: '/inventory', key: '', headers: newKey, status: 401, invocations: 1 },
    'refused: limit exceeded (429)': { ...get('/pets/1'), key: keys.free, status: 429 },
  };
  const figures: Figure[] = [];
  for (const [name, kind] of Object.entries(kinds)) {
    progress(name);
    if (kind.status === 429) await useUp(baseUrl, kind.key);
    const usage = await measured.measure({ ...kind, name });
    figures.push({ what: `${name}: time of its functions`, value: usage.billedMs, unit: ' ms', usage });
  }
  return figures;
}

/** Sends requests until the key is suspended, so that it is refused for the minutes to come. */
async function useUp(baseUrl: string, key: string): Promise<void> {
  const headers = { Authorization: `Bearer ${key}` };
  let text = '';
  for (let left = 1_000; left > 0 && !text.includes('API_KEY_SUSPENDED'); left--)
    text = await (await fetch(`${baseUrl}/pets/1`, { headers })).text();
  await sleep(LOGGED_MS);
}

async function load({ host: { documents, host } }: MeasuredHost, pets: number): Promise<void> {
  const { StockTableName = '', PetsTableName = '', OrdersTableName = '' } = host.outputs;
  await writeItems(documents, StockTableName, manyPets(pets), stockItem);
  const photoUrls = ['https://images.example.com/pets/1.jpg'];
  const onePet = manyPets(1).map(({ petId }) => ({ id: petId, name: 'Dalmatian', photoUrls }));
  await writeItems(documents, PetsTableName, onePet, petItem);
  const orders = manyPets(2 * PAGE).map(({ petId }) => {
    const shipDate = '2026-12-20T10:00:00Z';
    return { id: petId, petId, quantity: 1, shipDate, status: 'approved' as const, complete: false };
  });
  await writeItems(documents, OrdersTableName, orders, orderItem);
}
