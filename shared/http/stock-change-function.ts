import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type * as v from 'valibot';
import { entityTag, inventoryItemToJson } from '../contract/inventory.ts';
import { type OperationId, operations } from '../contract/operations.ts';
import { requiredEnv } from '../environment.ts';
import { IdempotentChanges } from '../stores/idempotent-changes.ts';
import { NEVER_MADE, StockStore, throwUnlessRefused } from '../stores/stock-store.ts';
import { parseJsonBody } from './json-body.ts';
import { operationHandler, type Reply } from './operation-handler.ts';
import { rehearse } from './rehearsal.ts';
import { type ApiRequest, parsePetId } from './request.ts';
import { stabilityHeader } from './response-headers.ts';
import { expectedVersions, idempotentRequest } from './update-headers.ts';

/** What the body of a request asks for. */
type Asked = { readonly quantity: number } | { readonly by: number };

/**
 * The Lambda function of an operation that changes the quantity of one pet, and answers with its entry.
 *
 * @param schema of the body
 * @param example a body that it takes
 */
export function stockChangeFunction<Body extends Asked>(
  operation: OperationId,
  client: DynamoDBDocumentClient,
  schema: v.GenericSchema<unknown, Body>,
  example: Body,
) {
  const stock = new StockStore(client, requiredEnv('STOCK_TABLE'));
  const idempotent = new IdempotentChanges(client, stock, requiredEnv('REQUESTS_TABLE'));

  async function changeStock(request: ApiRequest): Promise<Reply> {
    const petId = parsePetId(request);
    const change = {
      petId,
      ...parseJsonBody(request, schema, JSON.stringify(example)),
      versions: expectedVersions(request.headers),
    };
    const repeatable = idempotentRequest(request, change);
    const { entry, version } = await (repeatable ? idempotent.once(repeatable, change) : stock.change(change));
    return { status: 200, headers: { ETag: entityTag(version) }, body: inventoryItemToJson(entry) };
  }

  /** A transaction of both writes, which takes the rights of both. */
  async function check(): Promise<void> {
    const ids = { requestId: 'health check', fingerprint: 'health check' };
    await idempotent.once(ids, { ...NEVER_MADE, ...example }).catch(throwUnlessRefused);
  }

  const handler = operationHandler(changeStock, { headers: stabilityHeader(operation), check });
  const neverMade = {
    httpMethod: operations[operation].method,
    headers: { 'Content-Type': 'application/json', 'If-Match': '"none"' },
    body: JSON.stringify(example),
  };
  return { handler, initialise: () => rehearse(handler, neverMade) };
}
