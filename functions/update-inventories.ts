import pThrottle from 'p-throttle';
import { ServiceError } from '../shared/contract/errors.ts';
import { recordToJson } from '../shared/contract/exact-json.ts';
import type { Int64 } from '../shared/contract/int64.ts';
import { entityTag, type InventoryUpdates, inventoryUpdatesSchema } from '../shared/contract/inventory.ts';
import type { InventoryUpdateResultOf } from '../shared/contract/records.ts';
import { documentClient, unavailable } from '../shared/dynamodb.ts';
import { requiredEnv } from '../shared/environment.ts';
import { parseJsonBody } from '../shared/http/json-body.ts';
import { loggedErrorOf, operationHandler, type Reply } from '../shared/http/operation-handler.ts';
import { type ApiRequest, headerValues } from '../shared/http/request.ts';
import { stabilityHeader } from '../shared/http/response-headers.ts';
import { probeChange, StockStore } from '../shared/stores/stock-store.ts';

/** Rows written concurrently, and per 100 ms: max 50 rows per second. */
const WRITERS = 5;
/** Deadline to start a row, in milliseconds: each may take eleven seconds, and the function has fifteen. */
const LAST_ROW_AFTER_MS = 3_000;

/** Resolves when the next row may start, of this request or the next. */
const turn = pThrottle({ limit: WRITERS, interval: 100, strict: true })(() => Promise.resolve());

const stock = new StockStore(documentClient(), requiredEnv('STOCK_TABLE'));

type Row = InventoryUpdates[number];
type Result = Required<InventoryUpdateResultOf<Int64>>;

/** `PATCH /inventory`: sets the stock of up to 25 pets independently, and returns the result of each. */
async function updateInventories(request: ApiRequest): Promise<Reply> {
  refuseHeaders(request);
  const rows = parseJsonBody(request, inventoryUpdatesSchema, '[{"petId":101,"quantity":5}]');
  const results = rows.map(() => '');
  const lastBegin = Date.now() + LAST_ROW_AFTER_MS;
  const left = rows.entries();
  const work = async (): Promise<void> => {
    for (const [index, row] of left) {
      await turn();
      results[index] = await resultOf(row, request, lastBegin);
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, work));
  return { status: 200, body: `[${results.join(',')}]` };
}

/** The JSON text of a row's result. It never throws: the function would stop while other rows are written. */
async function resultOf({ ifMatch, ...update }: Row, request: ApiRequest, lastBegin: number): Promise<string> {
  const { petId } = update;
  const versions = ifMatch === undefined ? undefined : [ifMatch.slice(1, -1)];
  try {
    if (Date.now() > lastBegin) throw unavailable(undefined, 'The request timed out before this row was written.');
    const { entry, version } = await stock.change({ ...update, versions });
    return recordToJson({ petId, status: 200, etag: entityTag(version), item: entry } satisfies Result);
  } catch (error) {
    const { status, body } = loggedErrorOf(error, request);
    return recordToJson({ petId, status, error: body });
  }
}

/** These headers would apply to the whole request, but each row is a separate update. */
function refuseHeaders({ headers }: ApiRequest): void {
  for (const name of ['Idempotency-Key', 'If-Match', 'If-None-Match']) {
    const message = `Remove ${name}: use ifMatch in each row for safe updates and retries.`;
    if (headerValues(headers, name.toLowerCase()).length > 0) throw new ServiceError('INVALID_HEADER', { message });
  }
}

export const { handler, initialize } = operationHandler(updateInventories, {
  headers: stabilityHeader('updateInventories'),
  probe: () => probeChange((change) => stock.change(change)),
});
