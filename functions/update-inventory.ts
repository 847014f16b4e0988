import { inventoryUpdateSchema } from '../shared/contract/inventory.ts';
import { documentClient } from '../shared/dynamodb.ts';
import { requiredEnv } from '../shared/environment.ts';
import { entryReply } from '../shared/http/entity-tags.ts';
import { parseJsonBody } from '../shared/http/json-body.ts';
import { operationHandler, type Reply } from '../shared/http/operation-handler.ts';
import { type ApiRequest, parsePetId } from '../shared/http/request.ts';
import { stabilityHeader } from '../shared/http/response-headers.ts';
import { expectedVersions, idempotentRequest } from '../shared/http/update-headers.ts';
import { IdempotentChanges, probeRequest } from '../shared/stores/idempotent-changes.ts';
import { probeChange, StockStore } from '../shared/stores/stock-store.ts';

const client = documentClient();
const stock = new StockStore(client, requiredEnv('STOCK_TABLE'));
const idempotent = new IdempotentChanges(client, stock, requiredEnv('REQUESTS_TABLE'));

/** `PATCH /inventory/{petId}`: sets the stock quantity of one pet and answers with its entry (spec §4.2). */
async function updateInventory(request: ApiRequest): Promise<Reply> {
  const petId = parsePetId(request);
  const { quantity } = parseJsonBody(request, inventoryUpdateSchema, '{"quantity":5}');
  const update = { petId, quantity, versions: expectedVersions(request.headers) };
  const repeatable = idempotentRequest(request, update);
  return entryReply(await (repeatable ? idempotent.applyIdempotently(repeatable, update) : stock.change(update)));
}

export const { handler, initialise } = operationHandler(updateInventory, {
  headers: stabilityHeader('updateInventory'),
  // A transaction of both writes takes the rights of both.
  probe: () => probeChange((change) => idempotent.applyIdempotently(probeRequest(), change)),
});
