import { randomInt, randomUUID } from 'node:crypto';
import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { type DynamoDBDocumentClient, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { ServiceError, serviceErrorOf } from '../contract/errors.ts';
import { type Int64, int64Schema } from '../contract/int64.ts';
import { type InventoryItem, inventoryItemSchema, MAX_QUANTITY } from '../contract/inventory.ts';
import { isResponseLost, isUnavailable, LAST_ATTEMPT_AFTER_MS, retry } from '../dynamodb.ts';
import { itemFrom } from '../item-attributes.ts';
import { changeFailure, isExpected, petNotFound, stockChangeError } from './change-failures.ts';
import type { StockAuthor, StockHistory, StockWrite } from './stock-history.ts';
import {
  ANY_ID,
  ChangeState,
  type OldItem,
  parseRefused,
  parseStockItem,
  type StockChange,
  stockEntrySchema,
  type StockStore,
  type StockUpdate,
  type StockVersion,
} from './stock-store.ts';

const RECORD_TTL_SECONDS = 24 * 60 * 60;

/** A request with an `Idempotency-Key`. */
export interface IdempotentRequest {
  /** The same for each retry, and unguessable. */
  readonly requestId: string;
  /** Of all content of the request. */
  readonly fingerprint: string;
}

/** An entry after a change, which an earlier request may have made. */
export type ChangeResult = StockVersion & { readonly isReplayed?: boolean };

class IdempotentChangeState extends ChangeState {
  /** The entry as last read. */
  entry: InventoryItem | undefined;
  /** Why the transaction no longer writes the history: it failed for that, or had no response. */
  unrecorded: unknown;
  /** Whether a transaction without the history was applied, or may have been. */
  isLost = false;
  readonly author: StockAuthor;

  constructor(author: StockAuthor) {
    super();
    this.author = author;
  }
}

/**
 * Changes with their authors. Those with an Idempotency-Key are applied once, however often they are sent (IETF
 * draft-ietf-httpapi-idempotency-key-header): one transaction writes the stock entry, the history of the stock, and the
 * request's idempotency record, which is unique for a day.
 */
export class IdempotentChanges {
  readonly #client: DynamoDBDocumentClient;
  readonly #stock: StockStore;
  readonly #history: StockHistory;
  readonly #requestsTable: string;

  constructor(client: DynamoDBDocumentClient, stock: StockStore, history: StockHistory, requestsTable: string) {
    this.#client = client;
    this.#stock = stock;
    this.#history = history;
    this.#requestsTable = requestsTable;
  }

  /**
   * A transaction for a version that no write sets, the read of an update, and a refused put in the history. The pet
   * differs each time, so concurrent starts do not conflict.
   */
  get probes() {
    const change = async (): Promise<void> => {
      const petId = v.parse(int64Schema, String(randomInt(MAX_QUANTITY)));
      const request = { requestId: `probe ${randomUUID()}`, fingerprint: '' };
      const author = { who: 'probe', how: 'adjustment' } as const;
      await this.applyIdempotently(request, { petId, by: 1, versions: ['none'] }, author).catch((failure: unknown) => {
        const { status, cause } = serviceErrorOf(failure);
        if (status >= 500) throw cause;
      });
    };
    return [change, () => this.#stock.find(ANY_ID), this.#history.probe];
  }

  /** Applies a change: once, if it has an idempotent request. @throws as {@link applyIdempotently} */
  async apply(request: IdempotentRequest | undefined, change: StockChange, author: StockAuthor): Promise<ChangeResult> {
    if (request) return this.applyIdempotently(request, change, author);
    const at = Date.now();
    const { replaced, ...result } = await this.#stock.change(change);
    const before = { ...knownOf(change), ...(replaced && { replaced: replaced.version, was: replaced.quantity }) };
    await this.#history.put({ ...before, ...result.entry, at, version: result.version }, author);
    return result;
  }

  /**
   * Applies a change, unless the request's record shows that it was applied before. So each attempt can be retried.
   *
   * @returns the first response to an update; for an adjustment the current entry
   * @throws ServiceError IDEMPOTENCY_KEY_REUSED, PET_NOT_FOUND, PRECONDITION_FAILED and INSUFFICIENT_STOCK with the
   *   current ETag, or as {@link changeFailure} has it
   */
  async applyIdempotently(request: IdempotentRequest, change: StockChange, author: StockAuthor): Promise<ChangeResult> {
    const state = new IdempotentChangeState(author);
    try {
      const result = await retry(() => this.#attempt(request, change, state), isUnavailable);
      if (state.isLost) this.#history.warn(state.unrecorded, change.petId);
      return result;
    } catch (error) {
      const retryable = { message: RETRY_WITH_SAME_KEY, headers: { 'Retry-After': '1' } };
      throw changeFailure(error, state.mayBeApplied && retryable);
    }
  }

  async #attempt(request: IdempotentRequest, change: StockChange, state: IdempotentChangeState): Promise<ChangeResult> {
    const response = 'by' in change ? undefined : await this.#responseTo(change, state);
    const withHistory = state.unrecorded === undefined;
    try {
      await state.written(this.#client.send(this.#transaction(request, change, state, response)));
      state.isLost ||= !withHistory;
    } catch (error) {
      if (isResponseLost(error)) {
        state.isLost ||= !withHistory;
        state.unrecorded ??= error;
      } else if (withHistory && isForHistory(error, state)) {
        state.unrecorded = error;
        return this.#attempt(request, change, state);
      }
      if (!(error instanceof TransactionCanceledException)) throw error;
      const [record, stock] = error.CancellationReasons ?? [];
      if (record?.Code === FAILED_CONDITION) {
        // After a lost response the record is probably of an attempt of this request.
        const isReplayed = !state.mayBeApplied;
        state.mayBeApplied = true;
        return { ...(await this.#repeated(record.Item, request, change)), isReplayed };
      }
      const isRefused = record?.Code === 'None' && stock?.Code === FAILED_CONDITION;
      throw (isRefused ? refusalOf(stock.Item, change, state) : undefined) ?? reasonOf(error);
    }
    return response ?? this.#read(change.petId);
  }

  /**
   * The response to an update, to store in the record. Without a readable entry it is a placeholder: then
   * the transaction fails, on the record or on the entry, and returns the item.
   */
  async #responseTo(update: StockUpdate, state: IdempotentChangeState): Promise<StockVersion> {
    const { versions: _versions, ifQuantity: _ifQuantity, ...fields } = update;
    const { petId } = fields;
    const found = state.entry ? undefined : await this.#stock.find(petId).catch(undefinedIfUnreadable);
    state.entry ??= found?.entry ?? { petId, quantity: 0, status: 'available' };
    return { entry: v.parse(inventoryItemSchema, { ...state.entry, ...fields }), version: state.version };
  }

  /** The response to a retry: the record of an update has it; a retried adjustment returns the current entry. */
  async #repeated(item: OldItem, request: IdempotentRequest, { petId, ...change }: StockChange): Promise<StockVersion> {
    const record = itemFrom({ ...item, petId: { N: petId } });
    const { fingerprint } = v.parse(v.object({ fingerprint: v.string() }), record);
    if (fingerprint !== request.fingerprint) throw new ServiceError('IDEMPOTENCY_KEY_REUSED');
    return 'by' in change ? this.#read(petId) : parseStockItem(record);
  }

  async #read(petId: Int64): Promise<StockVersion> {
    const found = await this.#stock.find(petId);
    if (!found) throw petNotFound(petId);
    return found;
  }

  /** The condition requires the fields that an update keeps, so the stored response is exact. */
  #transaction(
    request: IdempotentRequest,
    change: StockChange,
    { version, startedAt, unrecorded, author }: IdempotentChangeState,
    response: StockVersion | undefined,
  ) {
    const now = Math.floor(Date.now() / 1_000);
    const { petId: _, ...fields } = response?.entry ?? {};
    const record = {
      TableName: this.#requestsTable,
      Item: { ...request, ttl: now + RECORD_TTL_SECONDS, ...(response && { ...fields, version }) },
      // DynamoDB may delete expired records days later.
      ConditionExpression: 'attribute_not_exists(requestId) OR #ttl <= :now',
      ExpressionAttributeNames: { '#ttl': 'ttl' },
      ExpressionAttributeValues: { ':now': now },
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    } as const;
    const fieldsOfEntry = v.keyof(stockEntrySchema).options;
    const left = response ? fieldsOfEntry.filter((field) => !(field in change)) : [];
    const unchanged = Object.fromEntries(left.map((field) => [field, response?.entry[field]]));
    const update = this.#stock.writeOf(change, version, unchanged);
    const write: StockWrite = { petId: change.petId, at: startedAt, version, ...fields, ...knownOf(change) };
    const history = unrecorded === undefined ? [{ Put: this.#history.writeOf(write, author) }] : [];
    return new TransactWriteCommand({ TransactItems: [{ Put: record }, { Update: update }, ...history] });
  }
}

/**
 * Whether a transaction perhaps failed for its write of the history, the last action: that is the only reason, or
 * DynamoDB refused the whole transaction, as it does without the table or the permission.
 */
function isForHistory(error: unknown, { startedAt }: IdempotentChangeState): boolean {
  if (Date.now() > startedAt + LAST_ATTEMPT_AFTER_MS) return false;
  if (!(error instanceof TransactionCanceledException)) return !isUnavailable(error);
  const [record, stock, history] = error.CancellationReasons ?? [];
  return record?.Code === 'None' && stock?.Code === 'None' && history?.Code !== 'None';
}

/** What a change replaces and adds, as far as it says so itself. */
const knownOf = ({ versions, ifQuantity, ...change }: StockChange) => ({
  replaced: versions?.length === 1 ? versions[0] : undefined,
  was: ifQuantity,
  added: 'by' in change ? change.by : undefined,
});

/** Why a transaction was canceled, as an error of that name. A reason that every attempt would meet comes first. */
function reasonOf(canceled: TransactionCanceledException): Error {
  const { CancellationReasons = [], message } = canceled;
  const reasons = CancellationReasons.filter(({ Code }) => Code !== 'None').map(({ Code: name }) =>
    Object.assign(new Error(message, { cause: canceled }), { name }),
  );
  return reasons.find((reason) => !isUnavailable(reason)) ?? reasons[0] ?? canceled;
}

/** Why the entry was not changed, or may have been; undefined if another attempt, with the current entry, may do it. */
function refusalOf(item: OldItem, change: StockChange, state: IdempotentChangeState): unknown {
  const found = parseRefused(item);
  state.entry = found?.entry;
  const refusal = stockChangeError(found, change);
  // A lost attempt may still arrive, and succeed if the quantity allows it by then. Its expected version never returns.
  const isFinal = !state.mayBeApplied || (found !== undefined && !isExpected(found, change));
  return isFinal ? refusal : state.lostResponse;
}

function undefinedIfUnreadable(error: unknown): undefined {
  if (!(error instanceof ServiceError && error.code === 'INTERNAL_ERROR')) throw error;
}

/** The reason of a canceled transaction if the condition of this item failed. */
const FAILED_CONDITION = 'ConditionalCheckFailed';

const RETRY_WITH_SAME_KEY =
  'The update may have been applied: send the same request again with the same Idempotency-Key.';
