import { entityTag, inventoryItemToJson } from '../shared/contract/inventory.ts';
import { documentClient, readAgain } from '../shared/dynamodb.ts';
import { requiredEnv } from '../shared/environment.ts';
import { unlessKnown } from '../shared/http/entity-tags.ts';
import { operationHandler, type Reply } from '../shared/http/operation-handler.ts';
import { ANY_ID, rehearse } from '../shared/http/rehearsal.ts';
import { type ApiRequest, parsePetId } from '../shared/http/request.ts';
import { stabilityHeader } from '../shared/http/response-headers.ts';
import { petNotFound, StockStore } from '../shared/stores/stock-store.ts';

const stock = new StockStore(documentClient({ requestTimeout: 3_000 }), requiredEnv('STOCK_TABLE'));

/** `GET /inventory/{petId}`: the stock entry of one pet, as it is now, with the ETag that an update may name. */
async function getInventory(request: ApiRequest): Promise<Reply> {
  const petId = parsePetId(request);
  const found = await readAgain(() => stock.find(petId));
  if (!found) throw petNotFound(petId);
  const headers = { ETag: entityTag(found.version) };
  return unlessKnown(request.headers, { status: 200, headers, body: inventoryItemToJson(found.entry) });
}

export const handler = operationHandler(getInventory, {
  headers: stabilityHeader('getInventory'),
  check: () => stock.find(ANY_ID),
});

export const initialise = () => rehearse(handler, { httpMethod: 'GET' });
