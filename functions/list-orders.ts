import { orderStatusSchema, orderToJson } from '../shared/contract/orders.ts';
import { documentClient } from '../shared/dynamodb.ts';
import { requiredEnv } from '../shared/environment.ts';
import { listHandler } from '../shared/http/list-handler.ts';
import { OrderStore } from '../shared/stores/order-store.ts';
import { warmUp } from '../shared/warm-up.ts';
import { SigningSecret } from '../shared/stores/signing-secret.ts';

const client = documentClient({ maxAttempts: 3, requestTimeout: 3_000 });
const orders = new OrderStore(client, requiredEnv('ORDERS_TABLE'));

export const initialise = () => warmUp(() => orders.page({}, 1));

/** `GET /store/orders`: all orders of the store, in ascending id (spec §4.3). */
export const handler = listHandler({
  operation: 'listOrders',
  status: orderStatusSchema,
  entries: orders,
  toJson: orderToJson,
  secret: new SigningSecret(client, requiredEnv('SECRETS_TABLE'), 'cursors'),
});
