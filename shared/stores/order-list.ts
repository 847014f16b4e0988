import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { type Order, orderStatusSchema } from '../contract/orders.ts';
import { int64AttributeSchema, safeNumberSchema } from '../dynamodb.ts';
import { SortedTable } from './sorted-table.ts';

const orderItemSchema = v.pipe(
  v.object({
    orderId: int64AttributeSchema,
    petId: int64AttributeSchema,
    quantity: safeNumberSchema,
    shipDate: v.optional(v.string()),
    status: orderStatusSchema,
    complete: v.boolean(),
  }),
  v.transform(({ orderId, ...rest }): Order => ({ id: orderId, ...rest })),
);

/** The orders of the store, in ascending id. */
export const orderList = (client: DynamoDBDocumentClient, tableName: string): SortedTable<Order> =>
  new SortedTable(client, tableName, 'orderId', orderItemSchema);
