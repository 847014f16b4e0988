import * as v from 'valibot';
import { type InventoryItem, inventoryItemSchema } from '../../../shared/contract/inventory.ts';
import { stockItem } from '../../table-items.ts';
import type { RecordKind } from '../import/record-kind.ts';

/** Stock entries, in files as the API lists them. */
export const stockEntries: RecordKind<InventoryItem> = {
  names: ['stock entry', 'stock entries'],
  schema: v.strictObject(inventoryItemSchema.entries),
  formats: ['.csv', '.jsonl'],
  idField: 'petId',
  idOf: ({ petId }) => petId,
  tableOf: ({ stockTable }) => stockTable,
  toItem: stockItem,
};
