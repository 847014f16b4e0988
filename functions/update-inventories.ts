import pThrottle from 'p-throttle';
import { ServiceError } from '../shared/contract/errors.ts';
import { recordToJson } from '../shared/contract/exact-json.ts';
import type { Int64 } from '../shared/contract/int64.ts';
import { entityTag, inventoryUpdatesSchema } from '../shared/contract/inventory.ts';
import type { InventoryUpdateResultOf } from '../shared/contract/records.ts';
import { responseTo, unavailable } from '../shared/dynamodb.ts';
import { recordedChanges } from '../shared/http/change-handler.ts';
import { parseJsonBody } from '../shared/http/json-body.ts';
import { logged, operationHandler, type Reply } from '../shared/http/operation-handler.ts';
import { authorOf, idempotentRequest } from '../shared/http/conditional-requests.ts';
import { type ApiRequest, headerValues } from '../shared/http/request.ts';
import { stabilityHeader } from '../shared/http/response-headers.ts';
import type { IdempotentRequest } from '../shared/stores/idempotent-changes.ts';
import type { StockUpdate } from '../shared/stores/stock-store.ts';

/** Rows of a request written concurrently, and per 100 ms: max 50 rows per second. */
const WRITERS = 5;
/** Deadline to start a row, in milliseconds: each may take 11.5 seconds with its record, and the function has 15. */
const LAST_ROW_AFTER_MS = 3_000;

const changes = recordedChanges();

type Result = Required<InventoryUpdateResultOf<Int64>>;

/** `PATCH /inventory`: sets the stock of up to 25 pets independently, and returns the result of each. */
async function updateInventories(request: ApiRequest): Promise<Reply> {
  refuseConditions(request);
  const rows = parseJsonBody(request, inventoryUpdatesSchema, '[{"petId":101,"quantity":5}]').map(
    ({ ifMatch, ...row }) => {
      const change = { ...row, versions: ifMatch === undefined ? undefined : [ifMatch.slice(1, -1)] };
      return { change, idempotentRow: idempotentRequest(request, change, row.petId) };
    },
  );
  const results = rows.map(() => '');
  const lastBegin = Date.now() + LAST_ROW_AFTER_MS;
  const nextTurn = pThrottle({ limit: WRITERS, interval: 100, strict: true })(() => Promise.resolve());
  const left = rows.entries();
  const work = async (): Promise<void> => {
    for (const [index, { change, idempotentRow }] of left) {
      await nextTurn();
      results[index] = await resultOf(change, idempotentRow, request, lastBegin);
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, work));
  return { status: 200, body: `[${results.join(',')}]` };
}

/** The JSON text of a row's result. It never throws: the function would stop while other rows are written. */
async function resultOf(
  change: StockUpdate,
  idempotentRow: IdempotentRequest | undefined,
  request: ApiRequest,
  lastBegin: number,
): Promise<string> {
  const { petId } = change;
  try {
    if (Date.now() > lastBegin) throw unavailable(undefined, 'The request timed out before this row was written.');
    const { entry, version } = await changes.apply(idempotentRow, change, authorOf(request, 'batch'));
    return recordToJson({ petId, status: 200, etag: entityTag(version), item: entry } satisfies Result);
  } catch (failure) {
    const { status, body, headers } = logged(responseTo(failure), request);
    return recordToJson({ petId, status, error: body, etag: headers['ETag'] });
  }
}

/** These headers would apply to the whole request, but each row is a separate update. */
function refuseConditions({ headers }: ApiRequest): void {
  for (const name of ['If-Match', 'If-None-Match']) {
    const message = `Remove ${name}: use ifMatch or ifQuantity in each row.`;
    if (headerValues(headers, name.toLowerCase()).length > 0) throw new ServiceError('INVALID_HEADER', { message });
  }
}

export const { handler, initialize } = operationHandler(updateInventories, {
  headers: stabilityHeader('updateInventories'),
  store: { probes: changes.probes, responseTo },
});
