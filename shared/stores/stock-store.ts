import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { type DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import * as v from 'valibot';
import { readInBatches } from './batch-read.ts';
import { type InventoryItem, petStatusSchema } from '../contract/inventory.ts';
import type { Int64 } from '../contract/int64.ts';
import {
  exactNumbers,
  int64AttributeSchema,
  LostAnswerError,
  reachingDynamoDB,
  safeNumberSchema,
  unavailable,
  updateOnce,
} from '../dynamodb.ts';
import { type Condition, conditionOf, isBy, mayBeOvertaken, updateMark, withRepeated } from './stock-update.ts';
import { allPages, type Page, type Selection, SortedTable, STORE_ID } from './sorted-table.ts';

/** Times that an update is sent whose answers get lost. */
const MAX_ROUNDS = 3;
/** It is not sent again after this: the function has 15 seconds, and a call that hangs takes three of them. */
const PATIENCE_MS = 5_000;

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
  repeated: v.optional(v.array(v.string())),
});

/** A stock entry with what tells its versions apart. */
export interface Revised {
  readonly entry: InventoryItem;
  /** Another one for every version of the entry. */
  readonly revision: number;
  /** Mark of the update that made this version; undefined where it was imported. */
  readonly updatedBy: string | undefined;
  /** Tokens of updates that had to be sent again. */
  readonly repeated: readonly string[] | undefined;
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
   * The entry has another revision than those asked for. `uncertain`: the answer to the update was lost, and others have
   * updated the entry; the update may have been done before they did. It was not sent again.
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

  /**
   * Sets the quantity of one pet, leaving its status. One write, and no read unless the condition fails or the answer is
   * lost.
   *
   * After a lost answer (a time-out, a connection cut off, a 5xx) nobody knows whether the write was done, or will be
   * once it arrives. What lies in the table tells:
   * - The entry has the update's token: it was done.
   * - It has a version that the update would have replaced: it was not done. It is sent again for this version alone, so
   *   that only one of the two writes can ever take effect: see {@link conditionOf} for one that was for any version.
   * - Others may have updated the entry since: the update may be beneath theirs, and is not sent again (`uncertain`).
   *
   * So an update takes effect once at most, whatever is lost, late or in between, and is `updated` only if it did. One
   * that is uncertain or failed with 503 may have taken effect, or may yet if its first write is still on its way.
   *
   * @throws ServiceError SERVICE_UNAVAILABLE
   */
  async update(update: StockUpdate): Promise<UpdateOutcome> {
    const sentAt = Date.now();
    let base: Revised | undefined;
    let lost: unknown;
    for (let round = 0; round < MAX_ROUNDS && Date.now() - sentAt < PATIENCE_MS; round++) {
      const condition = conditionOf(update, base);
      if (condition === undefined) return refused(await this.find(update.petId), update.token);
      try {
        return await this.#write(update, condition, base);
      } catch (error) {
        if (!(error instanceof LostAnswerError)) throw error;
        lost = error.reason;
      }
      const found = await this.find(update.petId);
      if (!found || isBy(found, update.token)) return refused(found, update.token);
      if (mayBeOvertaken(update, found, base, sentAt)) return uncertain(found);
      base = found;
    }
    throw unavailable(lost);
  }

  /** @param base the version that it is sent again for; undefined the first time */
  async #write(update: StockUpdate, condition: Condition, base: Revised | undefined): Promise<UpdateOutcome> {
    const { petId, quantity, token, revisions } = update;
    const repeated = withRepeated(update, base);
    try {
      const { Attributes } = await reachingDynamoDB(
        updateOnce(this.#client, {
          TableName: this.#tableName,
          Key: keyOf(petId),
          UpdateExpression: `SET quantity = :quantity, updatedBy = :mark${repeated ? ', repeated = :repeated' : ''} ADD revision :one`,
          ConditionExpression: condition.expression,
          ExpressionAttributeValues: {
            ':quantity': quantity,
            ':mark': updateMark(token, Date.now()),
            ':one': 1,
            ...(repeated && { ':repeated': repeated }),
            ...condition.values,
          },
          ReturnValues: 'ALL_NEW',
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        }),
      );
      const { entry, revision } = parseRevised(Attributes);
      return { kind: 'updated', entry, revision };
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException)) throw error;
      if (revisions === undefined && !base) return { kind: 'absent' };
      // Not every engine hands over the item with the failure.
      const found = error.Item ? parseRevised(unmarshall(error.Item, { ...exactNumbers })) : await this.find(petId);
      const outcome = refused(found, token);
      return outcome.kind === 'stale' ? { ...outcome, uncertain: base !== undefined } : outcome;
    }
  }
}

/** Why an update was not done now. One that is found done was done before, and the answer to it got lost. */
function refused(found: Revised | undefined, token: string): UpdateOutcome {
  if (!found) return { kind: 'absent' };
  const { entry, revision } = found;
  return isBy(found, token) ? { kind: 'updated', entry, revision } : { kind: 'stale', revision };
}

const uncertain = ({ revision }: Revised): UpdateOutcome => ({ kind: 'stale', revision, uncertain: true });

const keyOf = (petId: Int64) => ({ storeId: STORE_ID, petId: BigInt(petId) });

const parseEntry = (item: unknown): InventoryItem => v.parse(stockItemSchema, item);

function parseRevised(item: unknown): Revised {
  const { revision, updatedBy, repeated, ...entry } = v.parse(revisedItemSchema, item);
  return { entry, revision, updatedBy, repeated };
}
