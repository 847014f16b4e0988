import { randomUUID } from 'node:crypto';
import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { type DynamoDBDocumentClient, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import * as v from 'valibot';
import { ServiceError } from '../contract/errors.ts';
import type { Int64 } from '../contract/int64.ts';
import { type InventoryItem, inventoryItemSchema } from '../contract/inventory.ts';
import { isResponseLost, isUnavailable, retry } from '../dynamodb.ts';
import { exactNumbers } from '../item-attributes.ts';
import { stockEntrySchema } from './sorted-table.ts';
import {
  type Attempts,
  changeFailure,
  newVersion,
  type OldItem,
  parseRefused,
  parseStockItem,
  petNotFound,
  type StockChange,
  stockChangeError,
  type StockStore,
  type StockUpdate,
  type StockVersion,
  withoutNulls,
} from './stock-store.ts';

/** Retention of an idempotency record. */
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

/** The record of an update also has its response. An adjustment returns the current entry. */
const recordSchema = v.object({ fingerprint: v.string() });

const entryFields = v.keyof(stockEntrySchema).options;

interface AttemptState extends Attempts {
  /** The entry as it was last seen. */
  entry?: InventoryItem | undefined;
}

/**
 * Changes that are carried out once, however often they are sent (IETF draft-ietf-httpapi-idempotency-key-header): one
 * transaction writes the stock entry together with the request's idempotency record, which is unique for a day.
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
   * @returns the first response to an update; for an adjustment the current entry
   * @throws ServiceError IDEMPOTENCY_KEY_REUSED, PET_NOT_FOUND, PRECONDITION_FAILED and INSUFFICIENT_STOCK with the
   *   current ETag, or as {@link changeFailure} has it
   */
  async applyIdempotently(request: IdempotentRequest, change: StockChange): Promise<StockVersion> {
    const attempts: AttemptState = { version: newVersion(), mayBeMade: false };
    try {
      return await retry(() => this.#attempt(request, change, attempts), isUnavailable);
    } catch (error) {
      throw changeFailure(error, attempts.mayBeMade ? MAY_BE_MADE : undefined);
    }
  }

  async #attempt(request: IdempotentRequest, change: StockChange, attempts: AttemptState): Promise<StockVersion> {
    const response = 'by' in change ? undefined : await this.#responseTo(change, attempts);
    try {
      await this.#client.send(this.#transaction(request, change, attempts.version, response));
    } catch (error) {
      const [record, stock] = error instanceof TransactionCanceledException ? (error.CancellationReasons ?? []) : [];
      const isRepeated = record?.Code === FAILED_CONDITION;
      attempts.mayBeMade ||= isRepeated || isResponseLost(error);
      if (isRepeated) return this.#repeated(record.Item, request, change);
      const isRefused = record?.Code === 'None' && stock?.Code === FAILED_CONDITION;
      throw (isRefused && refusalOf(stock.Item, change, attempts)) || error;
    }
    attempts.mayBeMade = true;
    return response ?? this.#read(change.petId);
  }

  /**
   * The stored response to an update. Without a readable entry, it is made from any other: then the
   * transaction fails, as the record is there or by the condition on the entry, and returns the item.
   */
  async #responseTo(update: StockUpdate, attempts: AttemptState): Promise<StockVersion> {
    const { versions: _, ...fields } = update;
    const { petId } = fields;
    const found = attempts.entry ? undefined : await this.#stock.find(petId).catch(undefinedIfUnreadable);
    attempts.entry ??= found?.entry ?? { petId, quantity: 0, status: 'available' };
    return {
      entry: v.parse(inventoryItemSchema, withoutNulls({ ...attempts.entry, ...fields })),
      version: attempts.version,
    };
  }

  /** The response to a request that was applied before. */
  async #repeated(item: OldItem, request: IdempotentRequest, { petId, ...change }: StockChange): Promise<StockVersion> {
    const record = unmarshall({ ...item, petId: { N: petId } }, { ...exactNumbers });
    const { fingerprint } = v.parse(recordSchema, record);
    if (fingerprint !== request.fingerprint) throw new ServiceError('IDEMPOTENCY_KEY_REUSED');
    return 'by' in change ? this.#read(petId) : parseStockItem(record);
  }

  async #read(petId: Int64): Promise<StockVersion> {
    const found = await this.#stock.find(petId);
    if (!found) throw petNotFound(petId);
    return found;
  }

  /** The unchanged fields of an update are conditions, so the stored response is what was written. */
  #transaction(request: IdempotentRequest, change: StockChange, version: string, response: StockVersion | undefined) {
    const now = Math.floor(Date.now() / 1_000);
    const { petId: _, ...fields } = response?.entry ?? {};
    const record = {
      TableName: this.#requestsTable,
      Item: { ...request, ttl: now + KEPT_SECONDS, ...(response && { ...fields, version }) },
      // DynamoDB takes its time with what has expired.
      ConditionExpression: 'attribute_not_exists(requestId) OR #ttl <= :now',
      ExpressionAttributeNames: { '#ttl': 'ttl' },
      ExpressionAttributeValues: { ':now': now },
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    } as const;
    const left = response ? entryFields.filter((field) => !(field in change)) : [];
    const unchanged = Object.fromEntries(left.map((field) => [field, response?.entry[field]]));
    const update = this.#stock.writeOf(change, version, unchanged);
    return new TransactWriteCommand({ TransactItems: [{ Put: record }, { Update: update }] });
  }
}

/** Why the entry was not changed; undefined where another attempt, with the entry as it is by now, may change it. */
function refusalOf(item: OldItem, change: StockChange, attempts: AttemptState): ServiceError | undefined {
  const found = parseRefused(item);
  attempts.entry = found?.entry;
  const refusal = stockChangeError(found, change);
  // A lost attempt may still arrive, and succeed if the entry, or enough of it, is back by then. Its version never is.
  return !attempts.mayBeMade || refusal?.code === 'PRECONDITION_FAILED' ? refusal : undefined;
}

function undefinedIfUnreadable(error: unknown): undefined {
  if (!(error instanceof ServiceError && error.code === 'INTERNAL_ERROR')) throw error;
}

/** Why a transaction was canceled: the condition of this item failed. */
const FAILED_CONDITION = 'ConditionalCheckFailed';

const MAY_BE_MADE = 'The update may have been applied: send the same request again with the same Idempotency-Key.';
