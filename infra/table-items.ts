import type { InventoryItem } from '../shared/contract/inventory.ts';
import type { Order } from '../shared/contract/orders.ts';
import type { PetRecord } from '../shared/contract/pets.ts';
import { STORE_ID } from '../shared/stores/sorted-table.ts';
import { newVersion } from '../shared/stores/stock-store.ts';

/** What lies in the tables, as the stores in `shared` read it. Numbers that may be beyond 2^53 are BigInts. */

/** A stock entry that replaces the one its pet has. */
export const stockItem = ({ petId, quantity, status }: InventoryItem) => ({
  storeId: STORE_ID,
  petId: BigInt(petId),
  quantity,
  status,
  version: newVersion(),
});

/** A pet, which replaces the one with its id. */
export const petItem = ({ id, category, name, photoUrls, tags }: PetRecord) => ({
  petId: BigInt(id),
  name,
  photoUrls,
  ...(category && { category: labelAttribute(category) }),
  ...(tags && { tags: tags.map(labelAttribute) }),
});

/** An order, which replaces the one with its id. */
export const orderItem = ({ id, petId, quantity, shipDate, status, complete }: Order) => ({
  storeId: STORE_ID,
  orderId: BigInt(id),
  petId: BigInt(petId),
  quantity,
  ...(shipDate !== undefined && { shipDate }),
  status,
  complete,
});

const labelAttribute = ({ id, name }: NonNullable<PetRecord['category']>) => ({ id: BigInt(id), name });
