import { inventoryItemToJson, petStatusSchema } from '../shared/contract/inventory.ts';
import { documentClient } from '../shared/dynamodb.ts';
import { requiredEnv } from '../shared/environment.ts';
import { listHandler } from '../shared/http/list-handler.ts';
import { stockList } from '../shared/stores/stock-list.ts';

const client = documentClient({ maxAttempts: 3, requestTimeout: 3_000 });

/** `GET /inventory`: the stock levels of all pets, in ascending petId (spec §4.1). */
export const handler = listHandler({
  operation: 'listInventory',
  status: petStatusSchema,
  entries: stockList(client, requiredEnv('STOCK_TABLE')),
  toJson: inventoryItemToJson,
});
