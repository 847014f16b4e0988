import { type ErrorCode, ServiceError } from '../shared/contract/errors.ts';
import { entityTag, inventoryItemToJson, inventoryUpdateSchema } from '../shared/contract/inventory.ts';
import { documentClient } from '../shared/dynamodb.ts';
import { requiredEnv } from '../shared/environment.ts';
import { ANY_ID, warmUp, withHealthCheck } from '../shared/health-check.ts';
import { parseJsonBody } from '../shared/http/json-body.ts';
import { operationHandler } from '../shared/http/operation-handler.ts';
import { parsePetId } from '../shared/http/request.ts';
import { stabilityHeader } from '../shared/http/response-headers.ts';
import { rehearse } from '../shared/http/rehearsal.ts';
import { idempotentRequest, expectedVersions } from '../shared/http/update-headers.ts';
import { IdempotentUpdates } from '../shared/stores/idempotent-updates.ts';
import { StockStore } from '../shared/stores/stock-store.ts';

const client = documentClient({ requestTimeout: 3_000 });
const stock = new StockStore(client, requiredEnv('STOCK_TABLE'));
const idempotent = new IdempotentUpdates(client, stock, requiredEnv('REQUESTS_TABLE'));

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

/** `PATCH /inventory/{petId}`: sets the stock quantity of one pet and answers with its entry (spec §4.2). */
export const handler = withHealthCheck(
  check,
  operationHandler(async (event) => {
    const petId = parsePetId(event);
    const { quantity } = parseJsonBody(event, inventoryUpdateSchema);
    const update = { petId, quantity, versions: expectedVersions(event) };
    const request = idempotentRequest(event, update);
    const { entry, version } = await (request ? idempotent.once(request, update) : stock.update(update));
    return { status: 200, headers: { ETag: entityTag(version) }, body: inventoryItemToJson(entry) };
  }, stabilityHeader('updateInventory')),
);

/** Its condition is false: no write sets this version. */
const neverDone = {
  httpMethod: 'PATCH',
  petId: ANY_ID,
  headers: { 'Content-Type': 'application/json', 'If-Match': '"none"' },
  body: '{"quantity":0}',
};

export const initialise = () => warmUp(() => rehearse(handler, neverDone));
