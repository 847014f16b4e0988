import * as v from 'valibot';
import { int64Schema } from '../../../shared/contract/int64.ts';
import { MAX_QUANTITY, quantitySchema } from '../../../shared/contract/inventory.ts';
import { StockStore } from '../../../shared/stores/stock-store.ts';
import { AdminError } from '../service/failures.ts';
import type { Target } from '../service/target.ts';
import { formatNumber } from '../service/text.ts';

/**
 * Sets the quantity of one pet, as `PATCH /inventory/{petId}` does.
 *
 * @param texts as typed; with `ifQuantity`, only while the pet has that quantity
 * @returns sentence for the admin, safe to print @throws AdminError for invalid text; ServiceError
 */
export async function setQuantity(
  { documents, tables }: Target,
  texts: { readonly petId: string; readonly quantity: string; readonly ifQuantity?: string | undefined },
): Promise<string> {
  const petId = v.safeParse(int64Schema, texts.petId.trim());
  if (!petId.success) throw new AdminError(`${texts.petId} is not a pet id.`);
  const quantity = parseQuantity(texts.quantity);
  const ifQuantity = texts.ifQuantity === undefined ? undefined : parseQuantity(texts.ifQuantity);
  await new StockStore(documents, tables.stock).change({ petId: petId.output, quantity, ifQuantity });
  return `The quantity of pet ${petId.output} is ${formatNumber(quantity)} now.`;
}

/** Accepts thousands separators, as numbers are printed. */
function parseQuantity(text: string): number {
  const digits = text.trim().replaceAll(',', '');
  const quantity = /^\d{1,10}$/.test(digits) ? Number(digits) : Number.NaN;
  if (v.is(quantitySchema, quantity)) return quantity;
  throw new AdminError(`The quantity must be an integer from 0 to ${formatNumber(MAX_QUANTITY)}, not ${text}.`);
}
