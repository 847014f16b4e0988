import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { inventoryItemSchema } from '../../shared/contract/inventory.ts';
import { orderSchema } from '../../shared/contract/orders.ts';
import { petRecordSchema } from '../../shared/contract/pets.ts';

const sampleDataSchema = v.object({
  stock: v.array(inventoryItemSchema),
  pets: v.array(petRecordSchema),
  orders: v.array(orderSchema),
});

/**
 * A small pet store, ascending by id: a pet for every stock entry, and orders. Orders for pending pets are open,
 * those for sold pets complete.
 */
export const {
  stock: sampleStock,
  pets: samplePets,
  orders: sampleOrders,
} = v.parse(sampleDataSchema, JSON.parse(readFileSync(join(import.meta.dirname, 'sample-data.json'), 'utf8')));
