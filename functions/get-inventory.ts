import { documentClient, readWithRetries, responseTo } from '../shared/dynamodb.ts';
import { requiredEnv } from '../shared/environment.ts';
import { entryReply, notModifiedOr } from '../shared/http/conditional-requests.ts';
import { operationHandler, type Reply } from '../shared/http/operation-handler.ts';
import { type ApiRequest, parsePetId } from '../shared/http/request.ts';
import { stabilityHeader } from '../shared/http/response-headers.ts';
import { petNotFound } from '../shared/stores/change-failures.ts';
import { ANY_ID, StockStore } from '../shared/stores/stock-store.ts';

const stock = new StockStore(documentClient(), requiredEnv('STOCK_TABLE'));

/** `GET /inventory/{petId}`: the current stock entry of one pet, with the ETag for an update. */
async function getInventory(request: ApiRequest): Promise<Reply> {
  const petId = parsePetId(request);
  const found = await readWithRetries(() => stock.find(petId));
  if (!found) throw petNotFound(petId);
  return notModifiedOr(request.headers, entryReply(found));
}

export const { handler, initialize } = operationHandler(getInventory, {
  headers: stabilityHeader('getInventory'),
  store: { probes: [() => stock.find(ANY_ID)], responseTo },
});
