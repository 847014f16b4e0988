import { type AttributeValue, TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { type DynamoDBDocumentClient, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import * as v from 'valibot';
import { ServiceError } from '../contract/errors.ts';
import { petStatusSchema } from '../contract/inventory.ts';
import type { PetStatus } from '../contract/records.ts';
import { exactNumbers, isAnswerLost, isUnavailable, safeNumberSchema, tryAgain, unavailable } from '../dynamodb.ts';
import {
  newVersion,
  parseRefused,
  refusal,
  type StockStore,
  type StockUpdate,
  type StockVersion,
} from './stock-store.ts';

/** How long the answer to a request is kept. */
const KEPT_SECONDS = 24 * 60 * 60;

/** A request with an `Idempotency-Key`. */
export interface IdempotentRequest {
  /** The same for every repetition, and unguessable. */
  readonly requestId: string;
  /** Of all that the request asks for. */
  readonly fingerprint: string;
}

const recordSchema = v.object({
  fingerprint: v.string(),
  quantity: safeNumberSchema,
  status: petStatusSchema,
  version: v.string(),
});

/**
 * Updates that are carried out once, however often they are sent (IETF draft-ietf-httpapi-idempotency-key-header): one
 * transaction writes the stock entry together with a record of the request, which no other can write again for a day.
 */
export class IdempotentUpdates {
  readonly #client: DynamoDBDocumentClient;
  readonly #stock: StockStore;
  readonly #requestsTable: string;

  constructor(client: DynamoDBDocumentClient, stock: StockStore, requestsTable: string) {
    this.#client = client;
    this.#stock = stock;
    this.#requestsTable = requestsTable;
  }

  /**
   * Carries an update out, or gives the answer that it had before. The record makes every try safe to repeat.
   *
   * @throws ServiceError IDEMPOTENCY_KEY_REUSED, PET_NOT_FOUND, PRECONDITION_FAILED with the current ETag, or
   *   SERVICE_UNAVAILABLE, whose message says so where nobody can tell whether the update was done
   */
  async once(request: IdempotentRequest, update: StockUpdate): Promise<StockVersion> {
    const { petId, quantity, versions } = update;
    const version = newVersion();
    let status: PetStatus | undefined;
    let isLost = false;
    const attempt = async (): Promise<StockVersion> => {
      // The status of an absent entry does not matter: if the entry appears, the transaction fails and returns its status.
      status ??= (await this.#stock.find(petId))?.entry.status ?? 'available';
      const done = { entry: { petId, quantity, status }, version };
      try {
        await this.#client.send(this.#transaction(request, update, done));
        return done;
      } catch (error) {
        isLost ||= isAnswerLost(error);
        const [record, stock] = error instanceof TransactionCanceledException ? (error.CancellationReasons ?? []) : [];
        if (record?.Code === FAILED_CONDITION) return answerOf(record.Item, request, update);
        if (record?.Code !== 'None' || stock?.Code !== FAILED_CONDITION) throw error;
        const found = parseRefused(stock.Item);
        const isExpected = found && (versions?.includes(found.version) ?? true);
        // A try whose answer was lost may still arrive, and succeed if the entry is back by then: so this is no 404 yet.
        if (!isExpected && (found || !isLost)) throw refusal(found);
        status = found?.entry.status;
        throw error;
      }
    };
    try {
      return await tryAgain(attempt, isUnavailable);
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      throw unavailable(error, isLost ? UNKNOWN_OUTCOME : undefined);
    }
  }

  /** The update has the status in its record for a condition, so that the answer which is kept is what was stored. */
  #transaction(request: IdempotentRequest, update: StockUpdate, { entry, version }: StockVersion) {
    const { quantity, status } = entry;
    const now = Math.floor(Date.now() / 1_000);
    const write = this.#stock.writeOf(update, version);
    const record = {
      TableName: this.#requestsTable,
      Item: { ...request, quantity, status, version, expiresAt: now + KEPT_SECONDS },
      // DynamoDB takes its time with what has expired.
      ConditionExpression: 'attribute_not_exists(requestId) OR expiresAt <= :now',
      ExpressionAttributeValues: { ':now': now },
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    } as const;
    const writeWithStatus = {
      ...write,
      ConditionExpression: `${write.ConditionExpression} AND #status = :status`,
      ExpressionAttributeNames: { '#status': 'status' },
      ExpressionAttributeValues: { ...write.ExpressionAttributeValues, ':status': status },
    };
    return new TransactWriteCommand({ TransactItems: [{ Put: record }, { Update: writeWithStatus }] });
  }
}

/** Why a transaction was cancelled: the condition of this item was false. */
const FAILED_CONDITION = 'ConditionalCheckFailed';

const UNKNOWN_OUTCOME =
  'Nobody can tell yet whether the update was done: send the same request again with the same Idempotency-Key.';

/** The answer that was kept. @throws ServiceError IDEMPOTENCY_KEY_REUSED where it is of another request */
function answerOf(
  item: Record<string, AttributeValue> | undefined,
  { fingerprint }: IdempotentRequest,
  { petId }: StockUpdate,
): StockVersion {
  const { quantity, status, version, ...kept } = v.parse(recordSchema, unmarshall(item ?? {}, { ...exactNumbers }));
  if (kept.fingerprint !== fingerprint) throw new ServiceError('IDEMPOTENCY_KEY_REUSED');
  return { entry: { petId, quantity, status }, version };
}
