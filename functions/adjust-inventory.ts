import { inventoryAdjustmentSchema } from '../shared/contract/inventory.ts';
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

/** `POST /inventory/{petId}/adjustments`: adds to the stock of one pet, or takes from it, and answers with its entry. */
async function adjustInventory(request: ApiRequest): Promise<Reply> {
  const petId = parsePetId(request);
  const { by } = parseJsonBody(request, inventoryAdjustmentSchema, '{"by":-1}');
  const adjustment = { petId, by, versions: expectedVersions(request.headers) };
  const repeatable = idempotentRequest(request, adjustment);
  return entryReply(
    await (repeatable ? idempotent.applyIdempotently(repeatable, adjustment) : stock.change(adjustment)),
  );
}

export const { handler, initialise } = operationHandler(adjustInventory, {
  headers: stabilityHeader('adjustInventory'),
  // A transaction of both writes takes the rights of both.
  probe: () => probeChange((change) => idempotent.applyIdempotently(probeRequest(), change)),
});
