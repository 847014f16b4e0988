import { isDeepStrictEqual } from 'node:util';
import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { DeleteCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import pThrottle from 'p-throttle';
import * as v from 'valibot';
import { exactNumbers, expressionAttributes, type Item } from '../../../shared/item-attributes.ts';
import { NO_ENTRY, type StockAuthor } from '../../../shared/stores/stock-history.ts';
import { newVersion, stockItemSchema, type StockVersion } from '../../../shared/stores/stock-store.ts';
import type { TableName } from '../../tables.ts';
import type { Target } from '../service/target.ts';

/** Writes per second: half of what one partition, such as all stock, accepts. The rest is for customers. */
const inTurn = pThrottle({ limit: 50, interval: 100 })(() => Promise.resolve());

/** Maximum concurrent calls of {@link writeIfUnchanged}. */
export const CONCURRENT_WRITES = 32;

export interface ItemChange {
  /** As it was read; undefined if there was none. */
  readonly before: Item | undefined;
  /** Undefined to delete it. */
  readonly after: Item | undefined;
  /** Key attributes of an item to delete. */
  readonly key?: Item;
}

type Author = Omit<StockAuthor, 'who'>;

/**
 * Puts or deletes an item unless it was changed since it was read. Waits to keep the write rate.
 *
 * @param author for the history of the stock
 * @returns false if it was changed by others; true also if the SDK has repeated the write after a lost response
 */
export async function writeIfUnchanged(target: Target, table: TableName, change: ItemChange, author: Author) {
  const { before, after, key = {} } = change;
  const condition = { ...isStill(before, after), ReturnValuesOnConditionCheckFailure: 'ALL_OLD' } as const;
  const write = { TableName: target.tables[table], ...condition };
  await inTurn();
  try {
    if (after) await target.documents.send(new PutCommand({ ...write, Item: after }));
    else await target.documents.send(new DeleteCommand({ ...write, Key: key }));
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
    if (!isDeepStrictEqual(error.Item, after && marshall(after, { removeUndefinedValues: true }))) return false;
  }
  if (table === 'stock') await recordStockWrite(target, change, author);
  return true;
}

/** Condition that all attributes of both versions are as they were read. */
function isStill(before: Item | undefined, after: Item | undefined) {
  const { name, value, ExpressionAttributeNames, ExpressionAttributeValues } = expressionAttributes();
  const parts = Object.keys({ ...before, ...after }).map((each) =>
    before && each in before ? `${name(each)} = ${value(before[each])}` : `attribute_not_exists(${name(each)})`,
  );
  const ConditionExpression = parts.join(' AND ');
  // DynamoDB rejects an empty map.
  return { ConditionExpression, ExpressionAttributeNames, ...(before && { ExpressionAttributeValues }) };
}

/** It never throws: a failure is reported. */
async function recordStockWrite({ stockHistory, who }: Target, { before, after }: ItemChange, author: Author) {
  const [old, written] = [versionOf(before), versionOf(after)];
  const petId = (written ?? old)?.entry.petId;
  // The history shows a gap for an item that this release cannot read.
  if (petId === undefined || (after && !written)) return;
  const replaced = before ? old && { was: old.entry.quantity, replaced: old.version } : { replaced: NO_ENTRY };
  const write = { ...replaced, ...written?.entry, petId, at: Date.now(), version: written?.version ?? newVersion() };
  await stockHistory.put(write, { ...author, who: await who().catch(() => 'unknown') });
}

/** @param item as it was read, or is written */
function versionOf(item: Item | undefined): StockVersion | undefined {
  const asRead = item && unmarshall(marshall(item, { removeUndefinedValues: true }), { ...exactNumbers });
  const { success, output } = v.safeParse(stockItemSchema, asRead);
  return success ? output : undefined;
}
