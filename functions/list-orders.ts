import { orderStatusSchema, orderToJson } from '../shared/contract/orders.ts';
import { documentClient } from '../shared/dynamodb.ts';
import { requiredEnv } from '../shared/environment.ts';
import { listHandler } from '../shared/http/list-handler.ts';
import { orderList } from '../shared/stores/order-list.ts';

const client = documentClient({ maxAttempts: 3, requestTimeout: 3_000 });

/** `GET /store/orders`: all orders of the store, in ascending id (spec §4.3). */
export const handler = listHandler({
  operation: 'listOrders',
  status: orderStatusSchema,
  entries: orderList(client, requiredEnv('ORDERS_TABLE')),
  toJson: orderToJson,
});
