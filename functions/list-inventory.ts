import { inventoryItemToJson } from '../shared/contract/inventory.ts';
import { documentClient } from '../shared/dynamodb.ts';
import { requiredEnv } from '../shared/environment.ts';
import { listHandler } from '../shared/http/list-handler.ts';
import { stockList } from '../shared/stores/sorted-table.ts';

/** `GET /inventory`: the stock levels of all pets, in ascending petId. */
export const { handler, initialize } = listHandler({
  operation: 'listInventory',
  entries: stockList(documentClient(), requiredEnv('STOCK_TABLE')),
  toJson: inventoryItemToJson,
});
