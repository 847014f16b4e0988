import type { Engine } from '../../../infra/local/dynamodb/engine.ts';
import { IdempotentChanges } from '../../../shared/stores/idempotent-changes.ts';
import { StockStore } from '../../../shared/stores/stock-store.ts';
import { clientOfFunctions, pointSdkAt, testClient } from '../../support/engines.ts';
import { type Fault, FaultyEngine } from '../../support/faulty-engine.ts';
import { createRequestsTable, StockTable } from '../../support/tables.ts';

/** The stores of the stock, as functions have them, over an engine whose calls fail as a test wants. */
export async function openFaultyStock(start?: () => Promise<Engine>) {
  const engine = await FaultyEngine.start(start);
  pointSdkAt(engine.endpoint);
  const whole = testClient();
  const client = clientOfFunctions({ requestTimeout: 10_000, throwOnRequestTimeout: true });
  const stock = await StockTable.create(whole);
  const store = new StockStore(client, stock.name);
  return { engine, stock, store, idempotent: new IdempotentChanges(client, store, await createRequestsTable(whole)) };
}

/** What goes wrong with the writes, one after the other. */
export function failWrites(engine: FaultyEngine, ...faults: readonly Fault[]): void {
  const left = [...faults];
  engine.faults = ({ action }) => (isWrite(action) ? left.shift() : undefined);
}

export const isWrite = (action: string): boolean => action === 'UpdateItem' || action === 'TransactWriteItems';
