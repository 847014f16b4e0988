import { randomUUID } from 'node:crypto';
import { startEmbeddedEngine } from '../../infra/local/dynamodb/engine.ts';
import { stockItem } from '../../infra/table-items.ts';
import { writeItems } from '../../infra/write-items.ts';
import { ServiceError } from '../../shared/contract/errors.ts';
import { documentClient } from '../../shared/dynamodb.ts';
import { IdempotentUpdates } from '../../shared/stores/idempotent-updates.ts';
import { StockStore, type StockUpdate } from '../../shared/stores/stock-store.ts';
import { createRequestsTable, createStockTable } from '../support/tables.ts';
import { engineClient, manyPets, pointSdkAt } from './engine-client.ts';
import { type Figure, report } from './figure.ts';

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
