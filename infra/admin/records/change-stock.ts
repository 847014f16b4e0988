import * as v from 'valibot';
import { ServiceError } from '../../../shared/contract/errors.ts';
import { type Int64, int64Schema } from '../../../shared/contract/int64.ts';
import {
  type InventoryItem,
  inventoryItemSchema,
  MAX_QUANTITY,
  quantitySchema,
} from '../../../shared/contract/inventory.ts';
import type { PetStatus } from '../../../shared/contract/records.ts';
import { IdempotentChanges } from '../../../shared/stores/idempotent-changes.ts';
import { itemsOf } from '../../../shared/stores/sorted-table.ts';
import { parseStockItem, STORE_ID, StockStore, type StockVersion } from '../../../shared/stores/stock-store.ts';
import { AdminError } from '../service/failures.ts';
import type { Target } from '../service/target.ts';
import { formatNumber } from '../service/text.ts';
import { writeIfUnchanged } from './write-if-unchanged.ts';

/** The stock entry of a pet. @param petId as typed @throws AdminError if there is none */
export async function findStock({ documents, tables }: Target, petId: string): Promise<StockVersion> {
  const id = parsePetId(petId);
  const found = await new StockStore(documents, tables.stock).find(id);
  if (found) return found;
  throw noEntry(id);
}

interface StockChange {
  readonly petId: string;
  readonly quantity?: string | undefined;
  readonly status?: PetStatus | undefined;
  readonly version?: string | undefined;
  readonly reason?: string | undefined;
}

/** Sets what was typed; with a version, only while the entry has it. @throws AdminError for invalid text, or if not */
export async function setStock(target: Target, { petId, quantity, status, version, reason }: StockChange) {
  const id = parsePetId(petId);
  const fields = { ...(quantity !== undefined && { quantity: parseQuantity(quantity) }), ...(status && { status }) };
  if (Object.keys(fields).length === 0) throw new AdminError('Nothing to set. Pass a quantity, --status or both.');
  const change = { petId: id, versions: version === undefined ? undefined : [version], ...fields };
  const { documents, tables, stockHistory, who } = target;
  const stock = new StockStore(documents, tables.stock);
  const changes = new IdempotentChanges(documents, stock, stockHistory, tables.requests);
  const author = { who: await who().catch(() => 'unknown'), how: 'set', reason } as const;
  try {
    const { entry: value } = await changes.apply(undefined, change, author);
    return { value, text: `Pet ${id} has ${stockText(value)} now.` };
  } catch (error) {
    const { code } = error instanceof ServiceError ? error : {};
    if (code === 'PET_NOT_FOUND') throw noEntry(id);
    throw code === 'PRECONDITION_FAILED' ? changedMeanwhile(id) : error;
  }
}

/** Removes a stock entry as it was shown. @returns also sentences for the admin @throws AdminError if it was changed */
export async function removeStock(target: Target, { entry: value, version }: StockVersion, reason?: string) {
  const { documents, tables } = target;
  const { petId } = value;
  const key = { storeId: STORE_ID, petId: BigInt(petId) };
  const [item] = await itemsOf(documents, tables.stock, [key]);
  const isAsShown = item && parseStockItem(item).version === version;
  const removal = { before: item, after: undefined, key };
  if (!isAsShown || !(await writeIfUnchanged(target, 'stock', removal, { how: 'removal', reason })))
    throw changedMeanwhile(petId);
  const { what, putBack } = removalTexts(target, value);
  return { value, text: `Removed ${what}. ${putBack}` };
}

const stockText = ({ quantity, status }: InventoryItem): string =>
  `quantity ${formatNumber(quantity)}, status ${status}`;

/** What a removal removes, and how to undo it. */
export function removalTexts({ place }: Target, entry: InventoryItem) {
  const columns = v.keyof(inventoryItemSchema).options;
  const lines = `${columns.join(',')} and ${columns.map((column) => entry[column]).join(',')}`;
  return {
    what: `the stock entry of pet ${entry.petId} (${stockText(entry)}) from ${place}`,
    putBack: `To put it back, import a CSV file with the lines ${lines}.`,
  };
}

const noEntry = (petId: Int64): AdminError =>
  new AdminError(`Pet ${petId} has no stock entry. To create one: npm run admin -- inventory import FILE`);

const changedMeanwhile = (petId: Int64): AdminError =>
  new AdminError(
    `The stock entry of pet ${petId} was changed meanwhile. Nothing was written. Check it, and try again.`,
  );

/** @throws AdminError */
export function parsePetId(text: string): Int64 {
  const petId = v.safeParse(int64Schema, text.trim());
  if (petId.success) return petId.output;
  throw new AdminError(`${text} is not a pet id.`);
}

/** Accepts thousands separators, as numbers are printed. */
function parseQuantity(text: string): number {
  const digits = text.trim().replaceAll(',', '');
  const quantity = /^\d{1,10}$/.test(digits) ? Number(digits) : Number.NaN;
  if (v.is(quantitySchema, quantity)) return quantity;
  throw new AdminError(`The quantity must be an integer from 0 to ${formatNumber(MAX_QUANTITY)}, not ${text}.`);
}
