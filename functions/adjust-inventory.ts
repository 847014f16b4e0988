import { inventoryAdjustmentSchema } from '../shared/contract/inventory.ts';
import { documentClient } from '../shared/dynamodb.ts';
import { stockChangeFunction } from '../shared/http/stock-change-function.ts';

const client = documentClient({ requestTimeout: 3_000 });

/** `POST /inventory/{petId}/adjustments`: adds to the stock of one pet, or takes from it, and answers with its entry. */
export const { handler, initialise } = stockChangeFunction('adjustInventory', client, inventoryAdjustmentSchema, {
  by: -1,
});
