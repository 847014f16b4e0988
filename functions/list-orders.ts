import { recordToJson } from '../shared/contract/exact-json.ts';
import { documentClient } from '../shared/dynamodb.ts';
import { requiredEnv } from '../shared/environment.ts';
import { listHandler } from '../shared/http/list-handler.ts';
import { orderList } from '../shared/stores/order-list.ts';

/** `GET /store/orders`: all orders of the store, in ascending id. */
export const { handler, initialize } = listHandler({
  operation: 'listOrders',
  entries: orderList(documentClient(), requiredEnv('ORDERS_TABLE')),
  toJson: recordToJson,
});
