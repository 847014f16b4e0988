import { ServiceError } from '../shared/contract/errors.ts';
import { inventoryItemToJson, inventoryUpdateSchema } from '../shared/contract/inventory.ts';
import { documentClient } from '../shared/dynamodb.ts';
import { requiredEnv } from '../shared/environment.ts';
import { parseJsonBody } from '../shared/http/json-body.ts';
import { operationHandler } from '../shared/http/operation-handler.ts';
import { parsePetId } from '../shared/http/pet-id.ts';
import { StockStore } from '../shared/stock-store.ts';

const stock = new StockStore(documentClient({ maxAttempts: 3, requestTimeout: 3_000 }), requiredEnv('STOCK_TABLE'));

/** `PATCH /inventory/{petId}`: sets the stock quantity of one pet and answers with its entry (spec §4.2). */
export const handler = operationHandler(async (event) => {
  const petId = parsePetId(event);
  const { quantity } = parseJsonBody(event, inventoryUpdateSchema);
  const entry = await stock.setQuantity(petId, quantity);
  if (!entry) throw new ServiceError('PET_NOT_FOUND');
  return { status: 200, body: inventoryItemToJson(entry) };
});
