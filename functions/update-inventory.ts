import { inventoryUpdateSchema } from '../shared/contract/inventory.ts';
import { changeHandler } from '../shared/http/change-handler.ts';

/** `PATCH /inventory/{petId}`: sets the stock quantity of one pet and returns its entry. */
export const { handler, initialize } = changeHandler(
  'updateInventory',
  'update',
  inventoryUpdateSchema,
  '{"quantity":5}',
);
