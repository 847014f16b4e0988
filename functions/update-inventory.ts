import { createHash, randomBytes } from 'node:crypto';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { ServiceError } from '../shared/contract/errors.ts';
import { inventoryItemToJson, inventoryUpdateSchema } from '../shared/contract/inventory.ts';
import { documentClient } from '../shared/dynamodb.ts';
import { requiredEnv } from '../shared/environment.ts';
import { parsePrincipal } from '../shared/http/authorizer-context.ts';
import { entityTag, ifMatchRevisions } from '../shared/http/entity-tag.ts';
import { idempotencyKey } from '../shared/http/idempotency-key.ts';
import { parseJsonBody } from '../shared/http/json-body.ts';
import { operationHandler } from '../shared/http/operation-handler.ts';
import { parsePetId } from '../shared/http/pet-id.ts';
import type { Reply } from '../shared/http/reply.ts';
import { stabilityHeader } from '../shared/http/stability.ts';
import { IdempotentUpdates } from '../shared/stores/idempotent-updates.ts';
import { RequestStore } from '../shared/stores/request-store.ts';
import { StockStore, type StockUpdate, type UpdateOutcome } from '../shared/stores/stock-store.ts';
import { ANY_ID, warmUp } from '../shared/warm-up.ts';

const client = documentClient({ maxAttempts: 3, requestTimeout: 3_000 });
const stock = new StockStore(client, requiredEnv('STOCK_TABLE'));
const updates = new IdempotentUpdates(stock, new RequestStore(client, requiredEnv('REQUESTS_TABLE')));

export const initialise = () => warmUp(() => stock.find(ANY_ID));

/** `PATCH /inventory/{petId}`: sets the stock quantity of one pet and answers with its entry (spec §4.2). */
export const handler = operationHandler(async (event) => {
  const petId = parsePetId(event);
  const { quantity } = parseJsonBody(event, inventoryUpdateSchema);
  const update = { petId, quantity, revisions: ifMatchRevisions(event) };
  const key = idempotencyKey(event);
  const outcome = await (key === undefined
    ? stock.update({ ...update, token: randomBytes(8).toString('base64url') })
    : updateOnce(event, key, update));
  return replyTo(outcome);
}, stabilityHeader('updateInventory'));

function updateOnce(
  { requestContext }: APIGatewayProxyEvent,
  key: string,
  update: Omit<StockUpdate, 'token'>,
): Promise<UpdateOutcome> {
  const requestId = digest(parsePrincipal(requestContext.authorizer), key);
  const fingerprint = digest(update.petId, update.quantity, update.revisions ?? null);
  return updates.once({ ...update, requestId, fingerprint }, requestContext.requestTimeEpoch);
}

/** Of a version that others had replaced before it could be told: no version has this tag. */
const REPLACED_TAG = '"replaced-since"';

function replyTo(outcome: UpdateOutcome): Reply {
  if (outcome.kind === 'absent') throw new ServiceError('PET_NOT_FOUND');
  if (outcome.kind === 'stale' && outcome.uncertain === true) throw unknownOutcome();
  const headers = { ETag: outcome.revision === undefined ? REPLACED_TAG : entityTag(outcome.revision) };
  if (outcome.kind === 'stale') throw new ServiceError('PRECONDITION_FAILED', { headers });
  return { status: 200, headers, body: inventoryItemToJson(outcome.entry) };
}

/** Nothing else would be true: the update may be beneath what others have done meanwhile. */
function unknownOutcome(): ServiceError {
  const message = 'The update may have been done, and others have updated the entry since: read it before you repeat.';
  return new ServiceError('SERVICE_UNAVAILABLE', { message, headers: { 'Retry-After': '1' } });
}

function digest(...parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}
