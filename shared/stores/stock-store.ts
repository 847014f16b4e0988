/*
 * The directory `shared/stores`: stock, orders and pets in DynamoDB.
 *
 * Problem: clients update the same entry concurrently, and responses get lost. No update may be lost or applied twice,
 * and no response may be 200 for a quantity that was never stored.
 *
 * Algorithm: an entry is one item (partition = store, sort key = petId) with a random `version`, which each write
 * replaces and which is its ETag.
 * - `StockStore.change` is one conditional write. If its response is lost, one consistent read checks for its version.
 * - `StockHistory` records who changed what. The record never fails, undoes or much delays the change.
 * - `IdempotentChanges` is one transaction of the change and a record of the request, put only if it is not there. If
 *   it exists, the request was applied before, and its response is returned again.
 * - `SortedTable` lists by Query in the order of the ids; a page is one Query.
 *
 * Concurrency: the condition of the write decides every race, and fails for an entry that this release cannot read.
 * Nothing is locked. Whole lists and pages are read eventually consistent; entries by id and reads of a change are not.
 *
 * Errors: `shared/dynamodb.ts` classifies failures by the outcome of the call. Calls that were not applied have up to
 * four attempts within five seconds. Those that may have been are retried only if that is idempotent:
 * with a record, or with a version. Otherwise the code is UPDATE_OUTCOME_UNKNOWN.
 */
import { randomBytes } from 'node:crypto';
import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { type DynamoDBDocumentClient, GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { type Int64, int64Schema } from '../contract/int64.ts';
import type { InventoryAdjustment, InventoryItem } from '../contract/inventory.ts';
import {
  inventoryItemSchema,
  MAX_QUANTITY,
  petStatusSchema,
  quantitySchema,
  type SchemasOf,
} from '../contract/inventory.ts';
import { petStatuses } from '../contract/records.ts';
import { isConnectionGone, isResponseLost, retry, wasRefused } from '../dynamodb.ts';
import {
  expressionAttributes,
  int64AttributeSchema,
  type Item,
  itemFrom,
  parseItem,
  safeNumberSchema,
} from '../item-attributes.ts';
import { changeFailure, stockChangeError } from './change-failures.ts';

/** The only store: the partition key of every entry of a list. */
export const STORE_ID = 'main';

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
  /** Change only this quantity; undefined: any. */
  readonly ifQuantity?: number | undefined;
}

/** Clients set the quantity; admins the status too. Omitted fields stay unchanged. */
export type StockUpdate = Target & Partial<Omit<InventoryItem, 'petId'>>;

/** `by` is added to the quantity, which stays between 0 and {@link MAX_QUANTITY}. */
export type StockAdjustment = Target & Readonly<InventoryAdjustment>;

export type StockChange = StockUpdate | StockAdjustment;

/** An entry after a change. */
export interface ChangedStock extends StockVersion {
  /** What it replaced, without a quantity that cannot be read; undefined if the response was lost. */
  readonly replaced?: { readonly version: string; readonly quantity: number | undefined };
}

/** 72 random bits. */
export const newVersion = (): string => randomBytes(9).toString('base64url');

/** The state of a change across its attempts. */
export class ChangeState {
  /** The version that each attempt writes. */
  readonly version = newVersion();
  readonly startedAt = Date.now();
  /** Whether an attempt was applied, may have been, or may still be. */
  mayBeApplied = false;
  /** The failure of the last attempt that may have been. */
  lostResponse: unknown;

  /** Awaits the write of an attempt. */
  async written<Output>(write: Promise<Output>): Promise<Output> {
    const output = await write.catch((error: unknown) => {
      if (isResponseLost(error)) Object.assign(this, { mayBeApplied: true, lostResponse: error });
      throw error;
    });
    this.mayBeApplied = true;
    return output;
  }
}

/** The version of an entry that was added manually, without one. */
const unversioned = (petId: Int64): string => `unversioned${petId}`;

export const stockEntrySchema = v.object({
  petId: int64AttributeSchema,
  quantity: v.pipe(safeNumberSchema, quantitySchema),
  status: petStatusSchema,
} satisfies SchemasOf<InventoryItem>);

/** For each field, the condition that {@link stockEntrySchema} can read it; {@link conditionsOf} has the quantity's. */
const readable = {
  status: (name, value) => `${name} IN (${petStatuses.map(value).join(', ')})`,
} satisfies Record<
  Exclude<keyof InventoryItem, 'petId' | 'quantity'>,
  (name: string, value: (content: unknown) => string) => string
>;

/** An item as {@link stockItem} makes it. */
export const stockItemSchema = v.pipe(
  v.object({ ...stockEntrySchema.entries, version: v.optional(v.string()) }),
  v.transform(({ version, ...entry }): StockVersion => ({ entry, version: version ?? unversioned(entry.petId) })),
);

/** The item of an entry, with a new version. Numbers that may be beyond 2^53 are BigInts. */
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

  /** @param client for updates, one that does not retry: it would repeat a write that may have been applied */
  constructor(client: DynamoDBDocumentClient, tableName: string) {
    this.#client = client;
    this.#tableName = tableName;
  }

  /** The current entry of a pet; undefined if there is none. */
  async find(petId: Int64): Promise<StockVersion | undefined> {
    const get = new GetCommand({ TableName: this.#tableName, Key: keyOf(petId), ConsistentRead: true });
    const { Item } = await this.#client.send(get);
    return Item && parseStockItem(Item);
  }

  /**
   * Changes the stock of one pet with one conditional write. The write is retried if it was certainly not applied. With
   * expected versions it is also retried after a closed connection, as at most one attempt can succeed. If its response
   * is lost, one read decides: the entry has the new version if the write was applied.
   *
   * @throws ServiceError PET_NOT_FOUND, PRECONDITION_FAILED and INSUFFICIENT_STOCK with the current ETag, or as
   *   {@link changeFailure} has it
   */
  async change(change: StockChange): Promise<ChangedStock> {
    const state = new ChangeState();
    try {
      return await this.#write(change, state).catch((error: unknown) => this.#settle(error, change, state));
    } catch (error) {
      throw changeFailure(error, state.mayBeApplied && { message: READ_BEFORE_RETRY });
    }
  }

  async #write(change: StockChange, state: ChangeState): Promise<ChangedStock> {
    const write = new UpdateCommand({ ...this.writeOf(change, state.version), ReturnValues: 'ALL_OLD' });
    const mayRepeat = (error: unknown): boolean =>
      wasRefused(error) || (change.versions !== undefined && isConnectionGone(error));
    const { Attributes = {} } = await retry(() => state.written(this.#client.send(write)), mayRepeat);
    return changedBy(change, Attributes, state.version);
  }

  /** After a failure: the entry, if a lost attempt made the change. @throws why it was not, or may not have been */
  async #settle(failure: unknown, change: StockChange, state: ChangeState): Promise<StockVersion> {
    const { version, mayBeApplied, lostResponse } = state;
    const isRefused = failure instanceof ConditionalCheckFailedException;
    if (!isRefused && !mayBeApplied) throw failure;
    const found = isRefused ? parseRefused(failure.Item) : await this.find(change.petId);
    if (found?.version === version) return found;
    if (mayBeApplied) throw isRefused ? lostResponse : failure;
    throw stockChangeError(found, change) ?? failure;
  }

  /**
   * The write of a change, for UpdateItem and for TransactWriteItems. Its condition fails if there is no entry, or one
   * that this release cannot read. (No condition of DynamoDB fails for a fraction.)
   *
   * @param unchanged fields that the entry must have with these values, or must not have if undefined
   */
  writeOf(change: StockChange, version: string, unchanged: Item = {}) {
    const { ExpressionAttributeNames, ExpressionAttributeValues, ...attributes } = expressionAttributes();
    return {
      TableName: this.#tableName,
      Key: keyOf(change.petId),
      UpdateExpression: updateExpression(change, version, attributes),
      ConditionExpression: conditionsOf(change, unchanged, attributes).join(' AND '),
      ExpressionAttributeNames,
      ExpressionAttributeValues,
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    } as const;
  }
}

/** The entry after a change of this item. A quantity with a fraction, which no condition refuses, is replaced. */
function changedBy(change: StockChange, old: Item, version: string): ChangedStock {
  const { petId: _petId, versions: _versions, ifQuantity: _ifQuantity, ...fields } = change;
  const { success, output } = v.safeParse(stockItemSchema, old);
  const healed = { ...old, ...('quantity' in fields && { quantity: { value: String(fields.quantity) } }) };
  const { entry, version: replaced } = success ? output : parseStockItem(healed);
  const after = 'by' in fields ? { quantity: entry.quantity + fields.by } : fields;
  const quantity = success ? entry.quantity : undefined;
  const changed = { entry: v.parse(inventoryItemSchema, { ...entry, ...after }), version };
  // A client that retries has repeated a write whose response was lost.
  return replaced === version ? changed : { ...changed, replaced: { version: replaced, quantity } };
}

type Attributes = Pick<ReturnType<typeof expressionAttributes>, 'name' | 'value'>;

function updateExpression(change: StockChange, version: string, { name, value }: Attributes): string {
  const setVersion = `${name('version')} = ${value(version)}`;
  if ('by' in change) return `SET ${name('quantity')} = ${name('quantity')} + ${value(change.by)}, ${setVersion}`;
  const { petId: _petId, versions: _versions, ifQuantity: _ifQuantity, ...fields } = change;
  const sets = Object.entries(fields).map(([field, content]) => `${name(field)} = ${value(content)}`);
  return `SET ${[...sets, setVersion].join(', ')}`;
}

/** The entry is readable, as the change expects it, and its quantity remains in range. */
function conditionsOf(change: StockChange, unchanged: Item, { name, value }: Attributes): string[] {
  const { petId, versions, ifQuantity } = change;
  const required = ifQuantity === undefined ? unchanged : { ...unchanged, quantity: ifQuantity };
  const by = 'by' in change ? change.by : 0;
  const hasVersion = versions
    ? `${name('version')} IN (${versions.map(value).join(', ')})`
    : `attribute_type(${name('version')}, ${value('S')})`;
  const mayHaveNone = versions?.includes(unversioned(petId)) ?? true;
  return [
    `${name('quantity')} BETWEEN ${value(Math.max(0, -by))} AND ${value(MAX_QUANTITY - Math.max(0, by))}`,
    ...Object.entries(readable).map(([field, condition]) => condition(name(field), value)),
    mayHaveNone ? `(${hasVersion} OR attribute_not_exists(${name('version')}))` : hasVersion,
    ...Object.entries(required).map(([field, content]) =>
      content === undefined ? `attribute_not_exists(${name(field)})` : `${name(field)} = ${value(content)}`,
    ),
  ];
}

const keyOf = (petId: Int64) => ({ storeId: STORE_ID, petId: BigInt(petId) });

const READ_BEFORE_RETRY = 'The update may have been applied: read the entry before you retry.';

export const parseStockItem = (item: Item): StockVersion => parseItem(stockItemSchema, item, 'petId');

/** The item that DynamoDB returns for a failed condition; undefined if there is none. */
export type OldItem = ConditionalCheckFailedException['Item'];

/** The entry that failed the condition of an update; undefined if there is none. */
export const parseRefused = (item: OldItem): StockVersion | undefined => item && parseStockItem(itemFrom(item));

/** An id for reads that need no existing pet. */
export const ANY_ID = v.parse(int64Schema, '0');
