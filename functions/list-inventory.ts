import { inventoryItemToJson } from '../shared/contract/inventory.ts';
import { documentClient } from '../shared/dynamodb.ts';
import { requiredEnv } from '../shared/environment.ts';
import { operationHandler } from '../shared/http/operation-handler.ts';
import { StockStore } from '../shared/stock-store.ts';

const stock = new StockStore(documentClient({ maxAttempts: 3, requestTimeout: 3_000 }), requiredEnv('STOCK_TABLE'));

/** `GET /inventory`: the stock levels of all pets, in ascending petId (spec §4.1). */
export const handler = operationHandler(async () => {
  const pages: string[] = [];
  for await (const page of stock.pages()) {
    if (page.length > 0) pages.push(page.map(inventoryItemToJson).join(','));
  }
  return { status: 200, body: `[${pages.join(',')}]` };
});
