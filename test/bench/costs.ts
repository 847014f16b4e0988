import { orderItem } from '../../shared/stores/order-list.ts';
import { petItem } from '../../shared/stores/find-pet.ts';
import { stockItem } from '../../shared/stores/stock-store.ts';
import { writeItems } from '../../infra/write-items.ts';
import { generateToken } from '../../shared/keys/token.ts';
import { type PlanId, planIds, plans } from '../../shared/keys/plans.ts';
import * as costs from './cost-page.ts';
import { exactly, type Figure, progress, report } from './figure.ts';
import { serve } from './limiter.ts';
import { manyPets } from './listing.ts';
import { MeasuredHost, type RequestKind } from './measured-host.ts';

type MixedUsages = Parameters<typeof costs.costOfMix>[0];

const PETS = 10_000;
const PAGE = 100;

/**
 * What a million requests cost: capacity, time, log lines and bytes as measured through the whole host, at AWS's list
 * prices. The time is that of this machine, whose worker threads and engine are not Lambda's and DynamoDB's.
 */
export async function benchCosts(): Promise<Figure[]> {
  // Virtual time is for a process in which nothing else runs, so this comes first.
  const writes = await writesToCount();
  progress('starting a host');
  const measured = await MeasuredHost.start();
  try {
    await load(measured);
    const { usages, figures } = await measureRequests(measured);
    return [...figures, ...costsOfPlans(usages, writes)];
  } finally {
    await measured.close();
  }
}

/** Each another: one that comes again within a second takes no write. */
const newKey = () => ({ Authorization: `Bearer ${generateToken()}` });

async function measureRequests(measured: MeasuredHost): Promise<{ usages: MixedUsages; figures: Figure[] }> {
  const { keys, outputs } = measured.host.host;
  const { StockTableName = '', KeysTableName = '' } = outputs;
  const answered = { key: keys.business, status: 200, invocations: 2 };
  const patch = { ...answered, method: 'PATCH', path: '/inventory/1', body: '{"quantity":5}' };
  const json = { 'Content-Type': 'application/json' };
  const onlyOnce = () => ({ ...json, 'Idempotency-Key': `"${crypto.randomUUID()}"` });
  const overLimit = { name: 'refused: over the limit (429)', path: '/pets/1', key: keys.free, invocations: 2 };

  const figures: Figure[] = [];
  const measure = async (kind: RequestKind) => {
    progress(kind.name);
    const usage = await measured.measure(kind);
    figures.push(
      row(`${kind.name}: takes`, describeUsage(usage)),
      row(`${kind.name}: a million`, describeCosts(costs.costPerMillion(usage))),
    );
    return usage;
  };
  const update = await measure({ ...patch, name: 'update', headers: () => json });
  await measure({ ...patch, name: 'update with Idempotency-Key', headers: onlyOnce });
  const pet = await measure({ ...answered, name: 'one pet', path: '/pets/1' });
  const page = await measure({ ...answered, name: `page of ${PAGE} pets`, path: `/inventory?limit=${PAGE}` });
  await measure({ ...answered, name: `page of ${PAGE} orders`, path: `/store/orders?limit=${PAGE}` });
  const list = await measure({ ...answered, name: `list of ${number(PETS)} pets`, path: '/inventory' });
  const unknown = { path: '/inventory', key: '', headers: newKey, status: 401, invocations: 1 };
  await measure({ ...unknown, name: 'refused: unknown key (401)' });
  await useUp(measured.host.baseUrl, keys.free);
  await measure({ ...overLimit, status: 429 });
  figures.unshift(
    exactly('authorizer, an admitted request: write units', update.unitsOf(KeysTableName, 'written'), 1),
    exactly('authorizer, an admitted request: read units', update.unitsOf(KeysTableName, 'read'), 0),
    exactly('update: write units', update.unitsOf(StockTableName, 'written'), 1),
    report(`list of ${number(PETS)} pets: read units`, list.unitsOf(StockTableName, 'read')),
  );
  return { usages: { update, pet, page }, figures };
}

/** Sends requests until the key is suspended, so that it is refused for the minutes to come. */
async function useUp(baseUrl: string, key: string): Promise<void> {
  const headers = { Authorization: `Bearer ${key}` };
  let text = '';
  while (!text.includes('API_KEY_SUSPENDED')) text = await (await fetch(`${baseUrl}/pets/1`, { headers })).text();
}

async function load({ host: { documents, host } }: MeasuredHost): Promise<void> {
  const { StockTableName = '', PetsTableName = '', OrdersTableName = '' } = host.outputs;
  await writeItems(documents, StockTableName, manyPets(PETS), stockItem);
  const photoUrls = ['https://images.example.com/pets/1.jpg'];
  const pets = manyPets(1).map(({ petId }) => ({ id: petId, name: 'Dalmatian', photoUrls }));
  await writeItems(documents, PetsTableName, pets, petItem);
  const orders = manyPets(2 * PAGE).map(({ petId }) => {
    const shipDate = '2026-12-20T10:00:00Z';
    return { id: petId, petId, quantity: 1, shipDate, status: 'approved' as const, complete: false };
  });
  await writeItems(documents, OrdersTableName, orders, orderItem);
}

/** Writes that counting takes per request of a key whose requests of a day come evenly; of at least 300 requests. */
async function writesToCount(): Promise<Map<PlanId, number>> {
  const counts = new Map<PlanId, number>();
  for (const plan of planIds) {
    progress(`counting requests of ${plans[plan].title}`);
    const key = costs.limitsOf(plan);
    const requests = Math.max(300, key.perDay / 1_440);
    const perSecond = key.perDay / 86_400;
    const { writes } = await serve({ key, environments: Math.ceil(perSecond / 100), requests, load: { perSecond } });
    counts.set(plan, writes / requests);
  }
  return counts;
}

/** The mix on each plan, up to its last request. */
function costsOfPlans(usages: MixedUsages, writes: ReadonlyMap<PlanId, number>): Figure[] {
  return planIds.flatMap((plan) => {
    const { title } = plans[plan];
    const counting = writes.get(plan) ?? 1;
    const ofMix = costs.costOfMix(usages, counting);
    const requests = costs.requestsInMonth(plan);
    const aMonth = (costs.totalOf(ofMix) * requests) / 1_000_000;
    return [
      row(`${title}: writes to count a request`, counting.toFixed(3)),
      row(`${title}: a million of the mix`, describeCosts(ofMix)),
      row(`${title}: a month at its full use, ${number(requests)} requests`, usd(aMonth)),
    ];
  });
}

const row = (what: string, measured: string): Figure => ({ what, measured, target: '–' });

function describeUsage(usage: costs.RequestUsage): string {
  const { writeUnits, readUnits, invocations, billedMs, logBytes, answerBytes } = usage;
  return `${number(writeUnits)} writes, ${number(readUnits)} reads, ${number(invocations)} functions, ${billedMs.toFixed(1)} ms, ${number(logBytes)} bytes of logs, ${number(answerBytes)} bytes of answer`;
}

function describeCosts(million: ReturnType<typeof costs.costPerMillion>): string {
  const { gateway, lambda, dynamodb, logs, tracing, firewall, traffic } = million;
  const parts = { gateway, Lambda: lambda, DynamoDB: dynamodb, logs, tracing, firewall, traffic };
  const texts = Object.entries(parts).map(([name, part]) => `${name} ${part.toFixed(2)}`);
  return `${usd(costs.totalOf(million))} (${texts.join(', ')})`;
}

const usd = (value: number): string =>
  `${value.toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 })} USD`;
const number = (value: number): string => value.toLocaleString('en', { maximumFractionDigits: value < 100 ? 1 : 0 });
