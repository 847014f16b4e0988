import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { type DynamoDBDocumentClient, GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import * as v from 'valibot';
import { readInBatches } from './batch-read.ts';
import { type InventoryItem, petStatusSchema } from '../contract/inventory.ts';
import type { Int64 } from '../contract/int64.ts';
import { exactNumbers, int64AttributeSchema, reachingDynamoDB, safeNumberSchema } from '../dynamodb.ts';
import { allPages, type Page, type Selection, SortedTable, STORE_ID } from './sorted-table.ts';

const keySchema = v.object({ petId: int64AttributeSchema });

const stockItemSchema = v.object({
  ...keySchema.entries,
  quantity: safeNumberSchema,
  status: petStatusSchema,
});

const revisedItemSchema = v.object({
  ...stockItemSchema.entries,
  revision: v.optional(safeNumberSchema, { value: '0' }),
  updatedBy: v.optional(v.string()),
});

/** A stock entry with what tells its versions apart. */
export interface Revised {
  readonly entry: InventoryItem;
  /** Another one for every version of the entry. */
  readonly revision: number;
  /** Token of the update that made this version; undefined where it was imported. */
  readonly updatedBy: string | undefined;
}

export interface StockUpdate {
  readonly petId: Int64;
  readonly quantity: number;
  /** Of this update alone, so that one whose answer got lost on the way is known again. */
  readonly token: string;
  /** Update only one of these versions. */
  readonly revisions?: readonly number[] | undefined;
}

export type UpdateOutcome =
  /** `revision` is absent where others have replaced that version before it could be told. */
  | { readonly kind: 'updated'; readonly entry: InventoryItem; readonly revision?: number }
  /**
   * The entry has another revision than those asked for. `uncertain`: the SDK had to send the update again, and the
   * first time it may have been done, and then been replaced by others.
   */
  | { readonly kind: 'stale'; readonly revision: number; readonly uncertain?: boolean }
  | { readonly kind: 'absent' };

/** The stock levels of the store: one item per pet, in petId order (partition = store, sort key = petId). */
export class StockStore {
  readonly #client: DynamoDBDocumentClient;
  readonly #tableName: string;
  readonly #items: SortedTable;

  constructor(client: DynamoDBDocumentClient, tableName: string) {
    this.#client = client;
    this.#tableName = tableName;
    this.#items = new SortedTable(client, tableName, 'petId', ['quantity', 'status']);
  }

  /** All entries in ascending petId, one array a page. */
  pages(status?: string): AsyncGenerator<readonly InventoryItem[]> {
    return allPages((after, limit) => this.page({ status, after }, limit));
  }

  /** At most `limit` entries. */
  async page(selection: Selection, limit: number): Promise<Page<InventoryItem>> {
    const { entries, last } = await this.#items.page(selection, limit);
    const { status } = selection;
    if (status === undefined) return { entries: entries.map(parseEntry), last };
    // The index has the keys alone: with the quantities in it, every update would cost two writes.
    const keys = entries.map((key) => ({ storeId: STORE_ID, petId: BigInt(v.parse(keySchema, key).petId) }));
    const items = (await readInBatches(this.#client, this.#tableName, keys)).map(parseEntry);
    const inOrder = items.toSorted((a, b) => (BigInt(a.petId) < BigInt(b.petId) ? -1 : 1));
    // The index lags behind the table.
    return { entries: inOrder.filter((entry) => entry.status === status), last };
  }

  /** The entry of a pet as it is now; undefined where there is none. */
  async find(petId: Int64): Promise<Revised | undefined> {
    const { Item } = await reachingDynamoDB(
      this.#client.send(new GetCommand({ TableName: this.#tableName, Key: keyOf(petId), ConsistentRead: true })),
    );
    return Item && parseRevised(Item);
  }

  /** Sets the quantity of one pet, leaving its status. One write, and no read unless the condition fails. */
  async update({ petId, quantity, token, revisions }: StockUpdate): Promise<UpdateOutcome> {
    const condition = conditionOn(revisions);
    if (condition === undefined) return refused(await this.find(petId), token);
    try {
      const { Attributes } = await reachingDynamoDB(
        this.#client.send(
          new UpdateCommand({
            TableName: this.#tableName,
            Key: keyOf(petId),
            UpdateExpression: 'SET quantity = :quantity, updatedBy = :token ADD revision :one',
            ConditionExpression: condition.expression,
            ExpressionAttributeValues: { ':quantity': quantity, ':token': token, ':one': 1, ...condition.values },
            ReturnValues: 'ALL_NEW',
            ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          }),
        ),
      );
      const { entry, revision } = parseRevised(Attributes);
      return { kind: 'updated', entry, revision };
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException)) throw error;
      if (revisions === undefined) return { kind: 'absent' };
      // Not every engine hands over the item with the failure.
      const item = error.Item && parseRevised(unmarshall(error.Item, { ...exactNumbers }));
      const outcome = refused(item ?? (await this.find(petId)), token);
      return outcome.kind === 'stale' ? { ...outcome, uncertain: wasRepeated(error) } : outcome;
    }
  }
}

interface Condition {
  readonly expression: string;
  readonly values: Record<string, number>;
}

/** The condition that an entry has one of these revisions, or is there at all; undefined where none can hold. */
function conditionOn(revisions: readonly number[] | undefined): Condition | undefined {
  if (revisions === undefined) return { expression: 'attribute_exists(petId)', values: {} };
  if (revisions.length === 0) return undefined;
  const values = Object.fromEntries(revisions.map((revision, index) => [`:revision${index}`, revision]));
  const isOneOf = `revision IN (${Object.keys(values).join(', ')})`;
  // An entry that was put in by other means has no revision, which counts as 0.
  const expression = revisions.includes(0)
    ? `attribute_exists(petId) AND (${isOneOf} OR attribute_not_exists(revision))`
    : isOneOf;
  return { expression, values };
}

/** Why the condition failed. An update that is found done was repeated, because the answer to it got lost. */
function refused(found: Revised | undefined, token: string): UpdateOutcome {
  if (!found) return { kind: 'absent' };
  const { entry, revision, updatedBy } = found;
  return updatedBy === token ? { kind: 'updated', entry, revision } : { kind: 'stale', revision };
}

const wasRepeated = ({ $metadata }: ConditionalCheckFailedException): boolean => ($metadata.attempts ?? 1) > 1;

const keyOf = (petId: Int64) => ({ storeId: STORE_ID, petId: BigInt(petId) });

const parseEntry = (item: unknown): InventoryItem => v.parse(stockItemSchema, item);

function parseRevised(item: unknown): Revised {
  const { revision, updatedBy, ...entry } = v.parse(revisedItemSchema, item);
  return { entry, revision, updatedBy };
}
