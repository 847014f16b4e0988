import { randomUUID } from 'node:crypto';
import { type AttributeValue, TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { type DynamoDBDocumentClient, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import * as v from 'valibot';
import { ServiceError } from '../contract/errors.ts';
import type { Int64 } from '../contract/int64.ts';
import type { InventoryItem } from '../contract/inventory.ts';
import { isAnswerLost, isUnavailable, tryAgain, unavailable } from '../dynamodb.ts';
import { exactNumbers } from '../item-attributes.ts';
import { stockEntrySchema } from './sorted-table.ts';
import {
  newVersion,
  parseRefused,
  petNotFound,
  stockChangeError,
  type StockChange,
  stockItemSchema,
  type StockStore,
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

/** The request of a probe, which is never recorded. */
export const probeRequest = (): IdempotentRequest => ({ requestId: `probe ${randomUUID()}`, fingerprint: '' });

/** The record of an update has its answer beside that. An adjustment is answered with the entry as it is. */
const recordSchema = v.object({ fingerprint: v.string() });

const entryFields = v.keyof(stockEntrySchema).options;

/** What the tries of one request have in common. */
interface Tries {
  readonly version: string;
  /** The entry as it was last seen. */
  entry?: InventoryItem | undefined;
  /** Whether one of them may have been carried out, or may be yet. */
  isLost: boolean;
}

/**
 * Changes that are carried out once, however often they are sent (IETF draft-ietf-httpapi-idempotency-key-header): one
 * transaction writes the stock entry together with a record of the request, which no other can write again for a day.
 */
export class IdempotentChanges {
  readonly #client: DynamoDBDocumentClient;
  readonly #stock: StockStore;
  readonly #requestsTable: string;

  constructor(client: DynamoDBDocumentClient, stock: StockStore, requestsTable: string) {
    this.#client = client;
    this.#stock = stock;
    this.#requestsTable = requestsTable;
  }

  /**
   * Carries a change out, or finds that it was. The record makes every try safe to repeat.
   *
   * @returns the answer that an update had the first time; for an adjustment the entry as it is by now
   * @throws ServiceError IDEMPOTENCY_KEY_REUSED, PET_NOT_FOUND, PRECONDITION_FAILED and INSUFFICIENT_STOCK with the
   *   current ETag, or SERVICE_UNAVAILABLE, whose message says so where the outcome is not known
   */
  async applyIdempotently(request: IdempotentRequest, change: StockChange): Promise<StockVersion> {
    const tries: Tries = { version: newVersion(), isLost: false };
    try {
      return await tryAgain(() => this.#attempt(request, change, tries), isUnavailable);
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      throw unavailable(error, tries.isLost ? UNKNOWN_OUTCOME : undefined);
    }
  }

  async #attempt(request: IdempotentRequest, change: StockChange, tries: Tries): Promise<StockVersion> {
    const { petId } = change;
    // What is taken for an absent entry does not matter: if another appears, the transaction fails and returns it.
    if ('quantity' in change)
      tries.entry ??= (await this.#stock.find(petId))?.entry ?? { petId, quantity: 0, status: 'available' };
    const answer = answerTo(change, tries);
    try {
      await this.#client.send(this.#transaction(request, change, tries, answer));
    } catch (error) {
      tries.isLost ||= isAnswerLost(error);
      const [record, stock] = error instanceof TransactionCanceledException ? (error.CancellationReasons ?? []) : [];
      if (record?.Code === FAILED_CONDITION) return this.#repeated(record.Item, request, change);
      if (record?.Code !== 'None' || stock?.Code !== FAILED_CONDITION) throw error;
      const found = parseRefused(stock.Item);
      tries.entry = found?.entry;
      const refused = stockChangeError(found, change);
      // A try whose answer was lost may still arrive, and succeed if the entry, or enough of it, is back by then. Its version never is.
      const isFinal = !tries.isLost || refused?.code === 'PRECONDITION_FAILED';
      throw isFinal && refused ? refused : error;
    }
    tries.isLost = true;
    return answer ?? this.#read(petId);
  }

  /** The answer to a request that was carried out before. */
  async #repeated(
    item: Record<string, AttributeValue> | undefined,
    { fingerprint }: IdempotentRequest,
    change: StockChange,
  ): Promise<StockVersion> {
    const record = unmarshall(item ?? {}, { ...exactNumbers });
    if (v.parse(recordSchema, record).fingerprint !== fingerprint) throw new ServiceError('IDEMPOTENCY_KEY_REUSED');
    const { petId } = change;
    if ('by' in change) return this.#read(petId);
    return v.parse(stockItemSchema, { ...record, petId: { value: petId } });
  }

  async #read(petId: Int64): Promise<StockVersion> {
    const found = await this.#stock.find(petId);
    if (!found) throw petNotFound(petId);
    return found;
  }

  /** An update has the fields that it leaves as they are for conditions, so that the answer which is kept is what was stored. */
  #transaction(
    request: IdempotentRequest,
    change: StockChange,
    { version }: Tries,
    answer: StockVersion | undefined,
  ): TransactWriteCommand {
    const now = Math.floor(Date.now() / 1_000);
    const write = this.#stock.writeOf(change, version);
    const { petId: _, ...fields } = answer?.entry ?? {};
    const record = {
      TableName: this.#requestsTable,
      Item: { ...request, ttl: now + KEPT_SECONDS, ...(answer && { ...fields, version }) },
      // DynamoDB takes its time with what has expired.
      ConditionExpression: 'attribute_not_exists(requestId) OR #ttl <= :now',
      ExpressionAttributeNames: { '#ttl': 'ttl' },
      ExpressionAttributeValues: { ':now': now },
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    } as const;
    const update = answer ? onlyWith(answer.entry, change, write) : write;
    return new TransactWriteCommand({ TransactItems: [{ Put: record }, { Update: update }] });
  }
}

/** The answer to an update, as it is kept; an adjustment has none. */
function answerTo(change: StockChange, { entry, version }: Tries): StockVersion | undefined {
  if ('by' in change || !entry) return undefined;
  const { versions: _, ...fields } = change;
  return { entry: { ...entry, ...fields }, version };
}

/** The write of a change with the condition that what it leaves of the entry is what is answered. */
function onlyWith(answer: InventoryItem, change: StockChange, write: ReturnType<StockStore['writeOf']>) {
  const left = entryFields.filter((field) => !(field in change));
  const conditions = left.map((field) =>
    answer[field] === undefined ? `attribute_not_exists(#${field})` : `#${field} = :${field}`,
  );
  const names = Object.fromEntries(left.map((field) => [`#${field}`, field]));
  const values = Object.fromEntries(left.map((field) => [`:${field}`, answer[field]]));
  return {
    ...write,
    ConditionExpression: [write.ConditionExpression, ...conditions].join(' AND '),
    ExpressionAttributeNames: names,
    ExpressionAttributeValues: { ...write.ExpressionAttributeValues, ...values },
  };
}

/** Why a transaction was cancelled: the condition of this item was false. */
const FAILED_CONDITION = 'ConditionalCheckFailed';

const UNKNOWN_OUTCOME =
  'It is not known yet whether the change was made: send the same request again with the same Idempotency-Key.';
