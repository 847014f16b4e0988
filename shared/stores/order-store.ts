import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { type Order, orderStatusSchema } from '../contract/orders.ts';
import { int64AttributeSchema, safeNumberSchema } from '../dynamodb.ts';
import { allPages, type Page, type Selection, SortedTable } from './sorted-table.ts';

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

/** The orders of the store, in the order of their ids (partition = store, sort key = orderId). */
export class OrderStore {
  readonly #items: SortedTable;

  constructor(client: DynamoDBDocumentClient, tableName: string) {
    this.#items = new SortedTable(client, tableName, 'orderId', [
      'petId',
      'quantity',
      'shipDate',
      'status',
      'complete',
    ]);
  }

  /** All orders in ascending id, one array a page. */
  pages(status?: string): AsyncGenerator<readonly Order[]> {
    return allPages((after, limit) => this.page({ status, after }, limit));
  }

  /** At most `limit` orders. The index by status has whole orders: nothing but an import writes them. */
  async page(selection: Selection, limit: number): Promise<Page<Order>> {
    const { entries, last } = await this.#items.page(selection, limit);
    return { entries: entries.map((item) => v.parse(orderItemSchema, item)), last };
  }
}
