/*
 * The room `shared/stores`: stock, orders and pets in DynamoDB.
 *
 * Problem: many clients change the same entry at once, and answers get lost. No change may be lost or made twice, and no
 * answer may be 200 for a quantity that was never stored.
 *
 * Algorithm: an entry is one item (partition = store, sort key = petId) with a random `version`, which each write replaces
 * and which is its ETag.
 * - `StockStore.change` is one conditional write. If its answer is lost, one consistent read looks for its version.
 * - `IdempotentChanges` is one transaction of the change and a record of the request, put only if it is not there. If it is
 *   there, the request was carried out before, and its answer is given again.
 * - `SortedTable` lists by Query in the order of the ids; a page is one Query.
 *
 * Concurrency: the condition of the write decides every race. What was read before it only goes into the condition, and
 * nothing is locked. Whole lists and pages are read eventually consistent; entries by id, and all that a change looks at, are not.
 *
 * Errors: `shared/dynamodb.ts` sorts failures by what became of the call. What surely was not carried out is tried again,
 * up to four times in five seconds. What may have been is tried again only where a second time does nothing: with a record,
 * or with a version. Otherwise it is SERVICE_UNAVAILABLE, whose message says that the outcome is not known.
 */
import { randomBytes, randomInt } from 'node:crypto';
import { type AttributeValue, ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { type DynamoDBDocumentClient, GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import * as v from 'valibot';
import { type ErrorCode, ServiceError } from '../contract/errors.ts';
import { type Int64, int64Schema } from '../contract/int64.ts';
import { entityTag, type InventoryItem, MAX_QUANTITY } from '../contract/inventory.ts';
import { isAnswerLost, isConnectionGone, reachingDynamoDB, tryAgain, unavailable, wasRefused } from '../dynamodb.ts';
import { exactNumbers } from '../item-attributes.ts';
import { stockEntrySchema, STORE_ID } from './sorted-table.ts';

/** A stock entry as one write has made it. */
export interface StockVersion {
  readonly entry: InventoryItem;
  /** Random: every write of an entry sets another one. */
  readonly version: string;
}

interface Target {
  readonly petId: Int64;
  /** Change only one of these versions; undefined: any. */
  readonly versions?: readonly string[] | undefined;
}

export interface StockUpdate extends Target {
  readonly quantity: number;
}

export interface StockAdjustment extends Target {
  /** Is added to the quantity, which stays between 0 and {@link MAX_QUANTITY}. */
  readonly by: number;
}

export type StockChange = StockUpdate | StockAdjustment;

/** 72 random bits. */
export const newVersion = (): string => randomBytes(9).toString('base64url');

/** Stands for the version of an entry that was put in by hand, without one. */
const unversioned = (petId: Int64): string => `unversioned${petId}`;

/** An item as {@link stockItem} makes it. */
export const stockItemSchema = v.pipe(
  v.object({ ...stockEntrySchema.entries, version: v.optional(v.string()) }),
  v.transform(({ version, ...entry }): StockVersion => ({ entry, version: version ?? unversioned(entry.petId) })),
);

/** The item of an entry that replaces the one its pet has. Numbers that may be beyond 2^53 are BigInts. */
export const stockItem = ({ petId, ...fields }: InventoryItem) => ({
  storeId: STORE_ID,
  petId: BigInt(petId),
  ...fields,
  version: newVersion(),
});

/** The stock entries of pets: one item per pet (partition = store, sort key = petId). */
export class StockStore {
  readonly #client: DynamoDBDocumentClient;
  readonly #tableName: string;

  /** @param client for updates one without retries of its own: it would repeat a write that may be done */
  constructor(client: DynamoDBDocumentClient, tableName: string) {
    this.#client = client;
    this.#tableName = tableName;
  }

  /** The entry of a pet as it is now; undefined where there is none. @throws ServiceError SERVICE_UNAVAILABLE */
  async find(petId: Int64): Promise<StockVersion | undefined> {
    const get = new GetCommand({ TableName: this.#tableName, Key: keyOf(petId), ConsistentRead: true });
    const { Item } = await reachingDynamoDB(this.#client.send(get));
    return Item && v.parse(stockItemSchema, Item);
  }

  /**
   * Changes the stock of one pet: one conditional write. It is sent again where it surely was not done; and, if it names
   * versions, where the connection was gone: at most one of the two can succeed. If its answer is lost, one read shows
   * whether it was done: then the entry has its version.
   *
   * @returns the entry as the change made it
   * @throws ServiceError PET_NOT_FOUND, PRECONDITION_FAILED and INSUFFICIENT_STOCK with the current ETag, or
   *   SERVICE_UNAVAILABLE, whose message says so where the outcome is not known
   */
  async change(change: StockChange): Promise<StockVersion> {
    const version = newVersion();
    const write = new UpdateCommand({ ...this.writeOf(change, version), ReturnValues: 'ALL_NEW' });
    let isLost = false;
    const mayRepeat = (error: unknown): boolean => {
      isLost ||= isAnswerLost(error);
      return wasRefused(error) || (change.versions !== undefined && isConnectionGone(error));
    };
    try {
      const { Attributes } = await tryAgain(() => this.#client.send(write), mayRepeat);
      return v.parse(stockItemSchema, Attributes);
    } catch (error) {
      const isRefused = error instanceof ConditionalCheckFailedException;
      if (isRefused && !isLost) throw stockChangeError(parseRefused(error.Item), change) ?? error;
      if (!isLost) throw wasRefused(error) ? unavailable(error) : error;
      const found = isRefused ? parseRefused(error.Item) : await this.find(change.petId).catch(() => undefined);
      if (found?.version === version) return found;
      throw unavailable(error, UNKNOWN_OUTCOME);
    }
  }

  /** The write that carries out a change, for UpdateItem and for TransactWriteItems. */
  writeOf(change: StockChange, version: string) {
    const { petId, versions } = change;
    const { update, condition = '', values } = 'by' in change ? adding(change.by) : setting(change.quantity);
    const expected = Object.fromEntries((versions ?? []).map((each, index) => [`:expected${index}`, each]));
    const isExpected = `version IN (${Object.keys(expected).join(', ')})`;
    const orUnversioned = versions?.includes(unversioned(petId)) ? ' OR attribute_not_exists(version)' : '';
    return {
      TableName: this.#tableName,
      Key: keyOf(petId),
      UpdateExpression: `SET ${update}, version = :version`,
      ConditionExpression: `attribute_exists(petId)${condition}${versions ? ` AND (${isExpected}${orUnversioned})` : ''}`,
      ExpressionAttributeValues: { ...values, ':version': version, ...expected },
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    } as const;
  }
}

interface EntryChange {
  readonly update: string;
  readonly condition?: string;
  readonly values: Readonly<Record<string, number>>;
}

const setting = (quantity: number): EntryChange => ({
  update: 'quantity = :quantity',
  values: { ':quantity': quantity },
});

const adding = (by: number): EntryChange => ({
  update: 'quantity = quantity + :by',
  condition: ' AND quantity BETWEEN :least AND :most',
  values: { ':by': by, ':least': Math.max(0, -by), ':most': MAX_QUANTITY - Math.max(0, by) },
});

const keyOf = (petId: Int64) => ({ storeId: STORE_ID, petId: BigInt(petId) });

const UNKNOWN_OUTCOME = 'It is not known whether the change was made: read the entry before you send it again.';

/** The entry that does not meet the condition of an update; undefined where there is none. */
export const parseRefused = (item: Record<string, AttributeValue> | undefined): StockVersion | undefined =>
  item && v.parse(stockItemSchema, unmarshall(item, { ...exactNumbers }));

/** Why a change is not made, given the entry as it is; undefined where it could be. */
export function stockChangeError(found: StockVersion | undefined, change: StockChange): ServiceError | undefined {
  if (!found) return petNotFound(change.petId);
  const headers = { ETag: entityTag(found.version) };
  const isExpected = change.versions?.includes(found.version) ?? true;
  if (!isExpected) {
    const message = `The stock entry of pet ${change.petId} has another version than If-Match names.`;
    return new ServiceError('PRECONDITION_FAILED', { message, headers });
  }
  if (!('by' in change)) return undefined;
  const { quantity } = found.entry;
  const sum = quantity + change.by;
  if (sum >= 0 && sum <= MAX_QUANTITY) return undefined;
  const reason = sum < 0 ? `the adjustment takes ${-change.by}` : `there can be no more than ${MAX_QUANTITY}`;
  return new ServiceError('INSUFFICIENT_STOCK', {
    headers,
    message: `Pet ${change.petId} has ${quantity} in stock; ${reason}.`,
  });
}

/** An id that is asked for where it does not matter whether there is such a pet. */
export const ANY_ID = v.parse(int64Schema, '0');

const REFUSALS: ReadonlySet<ErrorCode> = new Set(['PET_NOT_FOUND', 'PRECONDITION_FAILED']);

/**
 * For a probe: makes a change whose condition is false, as no write sets this version. The pet is another each time, so that
 * many functions that start at once do not wait for each other.
 *
 * @throws what a request would fail with
 */
export async function probeChange(make: (change: StockAdjustment) => Promise<unknown>): Promise<void> {
  const petId = v.parse(int64Schema, String(randomInt(MAX_QUANTITY)));
  await make({ petId, by: 1, versions: ['none'] }).catch((error: unknown) => {
    if (!(error instanceof ServiceError && REFUSALS.has(error.code))) throw error;
  });
}

export const petNotFound = (petId: Int64): ServiceError =>
  new ServiceError('PET_NOT_FOUND', { message: `There is no pet ${petId}.` });
