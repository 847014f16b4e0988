import { type ErrorCode, ServiceError } from '../shared/contract/errors.ts';
import { entityTag, inventoryItemToJson, inventoryUpdateSchema } from '../shared/contract/inventory.ts';
import { documentClient } from '../shared/dynamodb.ts';
import { requiredEnv } from '../shared/environment.ts';
import { parseJsonBody } from '../shared/http/json-body.ts';
import { operationHandler, type Reply } from '../shared/http/operation-handler.ts';
import { ANY_ID, rehearse } from '../shared/http/rehearsal.ts';
import { type ApiRequest, parsePetId } from '../shared/http/request.ts';
import { stabilityHeader } from '../shared/http/response-headers.ts';
import { expectedVersions, idempotentRequest } from '../shared/http/update-headers.ts';
import { IdempotentUpdates } from '../shared/stores/idempotent-updates.ts';
import { StockStore } from '../shared/stores/stock-store.ts';

const client = documentClient({ requestTimeout: 3_000 });
const stock = new StockStore(client, requiredEnv('STOCK_TABLE'));
const idempotent = new IdempotentUpdates(client, stock, requiredEnv('REQUESTS_TABLE'));

/** `PATCH /inventory/{petId}`: sets the stock quantity of one pet and answers with its entry (spec §4.2). */
async function updateInventory(request: ApiRequest): Promise<Reply> {
  const petId = parsePetId(request);
  const { quantity } = parseJsonBody(request, inventoryUpdateSchema);
  const update = { petId, quantity, versions: expectedVersions(request.headers) };
  const once = idempotentRequest(request, update);
  const { entry, version } = await (once ? idempotent.once(once, update) : stock.update(update));
  return { status: 200, headers: { ETag: entityTag(version) }, body: inventoryItemToJson(entry) };
}

/** A transaction of both writes, which takes the rights of both. Its condition is false: no write sets this version. */
async function check(): Promise<void> {
  const neverDone = { petId: ANY_ID, quantity: 0, versions: ['none'] };
  const ids = { requestId: 'health check', fingerprint: 'health check' };
  await idempotent.once(ids, neverDone).catch((error: unknown) => {
    if (!(error instanceof ServiceError && REFUSED.has(error.code))) throw error;
  });
}

/** As the condition of an update does: there is no such entry, or it has another version. */
const REFUSED: ReadonlySet<ErrorCode> = new Set(['PET_NOT_FOUND', 'PRECONDITION_FAILED']);

export const handler = operationHandler(updateInventory, { headers: stabilityHeader('updateInventory'), check });

/** Its condition is false: no write sets this version. */
const neverDone = {
  httpMethod: 'PATCH',
  headers: { 'Content-Type': 'application/json', 'If-Match': '"none"' },
  body: '{"quantity":0}',
};

export const initialise = () => rehearse(handler, neverDone);
