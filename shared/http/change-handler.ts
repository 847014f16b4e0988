import type * as v from 'valibot';
import type { InventoryAdjustment, InventoryUpdate } from '../contract/inventory.ts';
import type { OperationId } from '../contract/routes.ts';
import { documentClient, responseTo } from '../dynamodb.ts';
import { requiredEnv } from '../environment.ts';
import { IdempotentChanges } from '../stores/idempotent-changes.ts';
import { StockStore } from '../stores/stock-store.ts';
import { entryReply, expectedVersions, idempotentRequest } from './conditional-requests.ts';
import { parseJsonBody } from './json-body.ts';
import { operationHandler, type Reply } from './operation-handler.ts';
import { type ApiRequest, parsePetId } from './request.ts';
import { stabilityHeader } from './response-headers.ts';

/** The schema of a body with the fields of an update. */
type ChangeSchema = v.GenericSchema<unknown, InventoryUpdate | InventoryAdjustment>;

/** The function of an operation that updates the stock of one pet, and returns its entry. @param example of a body */
export function changeHandler(operation: OperationId, schema: ChangeSchema, example: string) {
  const client = documentClient();
  const stock = new StockStore(client, requiredEnv('STOCK_TABLE'));
  const idempotent = new IdempotentChanges(client, stock, requiredEnv('REQUESTS_TABLE'));
  const respond = async (request: ApiRequest): Promise<Reply> => {
    const petId = parsePetId(request);
    const fields = parseJsonBody(request, schema, example);
    const change = { petId, ...fields, versions: expectedVersions(request.headers) };
    return entryReply(await idempotent.apply(idempotentRequest(request, change), change));
  };
  return operationHandler(respond, {
    headers: stabilityHeader(operation),
    store: { probes: idempotent.probes, responseTo },
  });
}
