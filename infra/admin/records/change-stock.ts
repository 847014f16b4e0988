import * as v from 'valibot';
import { ServiceError } from '../../../shared/contract/errors.ts';
import { type Int64, int64Schema } from '../../../shared/contract/int64.ts';
import { type InventoryItem, inventoryItemSchema } from '../../../shared/contract/inventory.ts';
import { MAX_QUANTITY, petStatusSchema, quantitySchema } from '../../../shared/contract/inventory.ts';
import { IdempotentChanges } from '../../../shared/stores/idempotent-changes.ts';
import { itemsOf } from '../../../shared/stores/sorted-table.ts';
import type { StockAuthor } from '../../../shared/stores/stock-history.ts';
import {
  newVersion,
  parseStockItem,
  STORE_ID,
  StockStore,
  type StockVersion,
} from '../../../shared/stores/stock-store.ts';
import { AdminError } from '../service/failures.ts';
import type { Target } from '../service/target.ts';
import { formatNumber } from '../service/text.ts';
import { writeIfUnchanged } from './write-if-unchanged.ts';

export interface StockResult {
  /** After the change; as removed. */
  readonly entry: InventoryItem;
  /** Sentences for the admin, safe to print. */
  readonly message: string;
}

/** An admin as the author of a change, for the history of the stock. */
export const adminOf = async ({ who }: Target, how: StockAuthor['how'], reason?: string): Promise<StockAuthor> => ({
  who: await who().catch(() => 'unknown'),
  how,
  reason,
});

const storeOf = ({ documents, tables }: Target): StockStore => new StockStore(documents, tables.stock);

/** The stock entry of a pet. @param petId as typed @throws AdminError if there is none */
export async function findStock(target: Target, petId: string): Promise<StockVersion> {
  const id = parsePetId(petId);
  const found = await storeOf(target).find(id);
  if (found) return found;
  throw noEntry(id);
}

/**
 * Sets the quantity of one pet, its status or both, with one conditional write.
 *
 * @param texts as typed; with `version`, only while the entry has that version; with a reason for the history
 * @throws AdminError for invalid text, or if the entry was changed or is missing; ServiceError
 */
export async function setStock(
  target: Target,
  { petId, quantity, status, version, reason }: Readonly<Record<'petId', string>> & SetTexts,
): Promise<StockResult> {
  const id = parsePetId(petId);
  const fields = {
    ...(quantity !== undefined && { quantity: parseQuantity(quantity) }),
    ...(status !== undefined && { status: parseStatus(status) }),
  };
  if (Object.keys(fields).length === 0) throw new AdminError('Nothing to set. Pass a quantity, --status or both.');
  const versions = version === undefined ? undefined : [version];
  const { documents, stockHistory, tables } = target;
  const changes = new IdempotentChanges(documents, storeOf(target), stockHistory, tables.requests);
  const author = await adminOf(target, 'set', reason);
  try {
    const { entry } = await changes.apply(undefined, { petId: id, versions, ...fields }, author);
    return { entry, message: `Pet ${id} has ${stockText(entry)} now.` };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    if (error.code === 'PET_NOT_FOUND') throw noEntry(id);
    throw error.code === 'PRECONDITION_FAILED' ? await changedMeanwhile(target, id) : error;
  }
}

type SetTexts = Readonly<Partial<Record<'quantity' | 'status' | 'version' | 'reason', string | undefined>>>;

/** Removes a stock entry while it has the version that was shown. @throws AdminError if it was changed or is gone */
export async function removeStock(
  target: Target,
  petId: Int64,
  version: string,
  reason?: string,
): Promise<StockResult> {
  const { documents, tables, place, stockHistory } = target;
  const author = await adminOf(target, 'removal', reason);
  const key = { storeId: STORE_ID, petId: BigInt(petId) };
  const [item] = await itemsOf(documents, tables.stock, [key]);
  if (!item) throw noEntry(petId);
  const found = parseStockItem(item);
  const isDone = found.version === version && (await writeIfUnchanged(documents, tables.stock, item, undefined, key));
  if (!isDone) throw await changedMeanwhile(target, petId);
  const write = { petId, at: Date.now(), version: newVersion(), was: found.entry.quantity, replaced: version };
  await stockHistory.put(write, author);
  const removed = `Removed the stock entry of pet ${petId} (${stockText(found.entry)}) from ${place}.`;
  return { entry: found.entry, message: `${removed} ${putBackText(found.entry)}` };
}

/** What a removal removes, and how to undo it: for its confirmation. */
export const removalText = (entry: InventoryItem): string =>
  `It has ${stockText(entry)}. GET /inventory/${entry.petId} returns 404 then. ${putBackText(entry)}`;

/** `quantity 7, status sold`. */
const stockText = ({ quantity, status }: InventoryItem): string =>
  `quantity ${formatNumber(quantity)}, status ${status}`;

function putBackText(entry: InventoryItem): string {
  const columns = v.keyof(inventoryItemSchema).options;
  const row = columns.map((column) => entry[column]).join(',');
  return `To put it back, import a CSV file with the lines ${columns.join(',')} and ${row}.`;
}

const noEntry = (petId: Int64): AdminError =>
  new AdminError(`Pet ${petId} has no stock entry. To create one: npm run admin -- inventory import FILE`);

async function changedMeanwhile(target: Target, petId: Int64): Promise<AdminError> {
  const { entry } = await findStock(target, petId);
  return new AdminError(
    `The stock entry of pet ${petId} was changed meanwhile: ${stockText(entry)}. Nothing was written. Check it, and try again.`,
  );
}

function parsePetId(text: string): Int64 {
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

function parseStatus(text: string): InventoryItem['status'] {
  const { success, output, issues } = v.safeParse(petStatusSchema, text);
  if (success) return output;
  throw new AdminError(`The status ${issues[0].message}, not ${text}.`);
}
