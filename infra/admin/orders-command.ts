import { Command } from 'commander';
import { type Order, orderSchema } from '../../shared/contract/orders.ts';
import { orderItem } from '../table-items.ts';
import { importCommand } from './import/import-command.ts';
import type { RecordKind } from './import/record-kind.ts';

/** Orders, in files as the API lists them. */
export const orders: RecordKind<Order> = {
  names: ['order', 'orders'],
  schema: orderSchema,
  formats: ['.csv', '.jsonl'],
  idField: 'id',
  idOf: ({ id }) => id,
  tableOf: ({ ordersTable }) => ordersTable,
  toItem: orderItem,
};

/** `orders …`. */
export function ordersCommand(): Command {
  const fields = 'id, petId, quantity, shipDate (may be empty), status and complete';
  return new Command('orders').description('orders, from files').addCommand(importCommand(orders, fields));
}
