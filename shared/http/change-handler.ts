import type * as v from 'valibot';
import type { InventoryAdjustment, InventoryUpdate } from '../contract/inventory.ts';
import type { OperationId } from '../contract/routes.ts';
import { documentClient, responseTo } from '../dynamodb.ts';
import { requiredEnv } from '../environment.ts';
import { unrecordedLog } from '../log.ts';
import { IdempotentChanges } from '../stores/idempotent-changes.ts';
import { type StockAuthor, StockHistory } from '../stores/stock-history.ts';
import { StockStore } from '../stores/stock-store.ts';
import { authorOf, entryReply, expectedVersions, idempotentRequest } from './conditional-requests.ts';
import { parseJsonBody } from './json-body.ts';
import { operationHandler, type Reply } from './operation-handler.ts';
import { type ApiRequest, parsePetId } from './request.ts';
import { stabilityHeader } from './response-headers.ts';

type ChangeSchema = v.GenericSchema<unknown, InventoryUpdate | InventoryAdjustment>;

/** The changes of stock of a function, in the tables that its environment names. */
export function recordedChanges(): IdempotentChanges {
  const client = documentClient();
  const stock = new StockStore(client, requiredEnv('STOCK_TABLE'));
  const history = new StockHistory({ client, tableName: requiredEnv('CHANGES_TABLE'), onLost: unrecordedLog() });
  return new IdempotentChanges(client, stock, history, requiredEnv('REQUESTS_TABLE'));
}

/** The function of an operation that updates the stock of one pet, and returns its entry. @param example of a body */
export function changeHandler(operation: OperationId, how: StockAuthor['how'], schema: ChangeSchema, example: string) {
  const changes = recordedChanges();
  const respond = async (request: ApiRequest): Promise<Reply> => {
    const petId = parsePetId(request);
    const fields = parseJsonBody(request, schema, example);
    const change = { petId, ...fields, versions: expectedVersions(request.headers) };
    return entryReply(await changes.apply(idempotentRequest(request, change), change, authorOf(request, how)));
  };
  return operationHandler(respond, {
    headers: stabilityHeader(operation),
    store: { probes: changes.probes, responseTo },
  });
}
