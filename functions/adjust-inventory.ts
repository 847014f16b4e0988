import { inventoryAdjustmentSchema } from '../shared/contract/inventory.ts';
import { changeHandler } from '../shared/http/change-handler.ts';

/** `POST /inventory/{petId}/adjustments`: adds to the stock of one pet, or subtracts from it, and returns its entry. */
export const { handler, initialize } = changeHandler(
  'adjustInventory',
  'adjustment',
  inventoryAdjustmentSchema,
  '{"by":-1}',
);
