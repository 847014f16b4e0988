import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import * as v from 'valibot';
import { exactNumbers } from '../../../shared/item-attributes.ts';
import { NO_ENTRY, type StockAuthor } from '../../../shared/stores/stock-history.ts';
import { newVersion, stockItemSchema, type StockVersion } from '../../../shared/stores/stock-store.ts';
import type { Item } from '../../write-items.ts';
import type { Target } from '../service/target.ts';

/**
 * Records that the admin wrote an item of the stock. It never throws: a failure is reported.
 *
 * @param before the item that it replaced; undefined if there was none @param after undefined if it was removed
 */
export async function recordStockWrite(
  { stockHistory, who }: Target,
  before: Item | undefined,
  after: Item | undefined,
  author: Omit<StockAuthor, 'who'>,
): Promise<void> {
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
