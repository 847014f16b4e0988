import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import type { Int64 } from '../contract/int64.ts';
import type { SchemasOf } from '../contract/inventory.ts';
import { type Order, orderStatusSchema } from '../contract/orders.ts';
import { int64AttributeSchema, safeNumberSchema } from '../item-attributes.ts';
import { SortedTable } from './sorted-table.ts';
import { STORE_ID } from './stock-store.ts';

export const orderItemSchema = v.pipe(
  v.object({
    orderId: int64AttributeSchema,
    petId: int64AttributeSchema,
    quantity: safeNumberSchema,
    shipDate: v.optional(v.string()),
    status: orderStatusSchema,
    complete: v.boolean(),
  } satisfies SchemasOf<Omit<Order, 'id'> & { orderId: Int64 }>),
  v.transform(({ orderId, ...rest }): Order => ({ id: orderId, ...rest })),
);

/** The item of an order. Numbers that may be beyond 2^53 are BigInts; the client leaves out what is undefined. */
export const orderItem = ({ id, petId, ...fields }: Order) => ({
  storeId: STORE_ID,
  orderId: BigInt(id),
  petId: BigInt(petId),
  ...fields,
});

/** The orders of the store, in ascending id. */
export const orderList = (client: DynamoDBDocumentClient, tableName: string): SortedTable<Order> =>
  new SortedTable(client, tableName, 'orderId', orderItemSchema);
