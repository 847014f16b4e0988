import { inventoryUpdateSchema } from '../shared/contract/inventory.ts';
import { documentClient } from '../shared/dynamodb.ts';
import { stockChangeFunction } from '../shared/http/stock-change-function.ts';

const client = documentClient({ requestTimeout: 3_000 });

/** `PATCH /inventory/{petId}`: sets the stock quantity of one pet and answers with its entry (spec §4.2). */
export const { handler, initialise } = stockChangeFunction('updateInventory', client, inventoryUpdateSchema, {
  quantity: 5,
});
