import { inventoryItemToJson, petStatusSchema } from '../shared/contract/inventory.ts';
import { documentClient } from '../shared/dynamodb.ts';
import { requiredEnv } from '../shared/environment.ts';
import { warmUp, withHealthCheck } from '../shared/health-check.ts';
import { listHandler } from '../shared/http/list-handler.ts';
import { stockList } from '../shared/stores/sorted-table.ts';

const client = documentClient({ requestTimeout: 3_000 });
const stock = stockList(client, requiredEnv('STOCK_TABLE'));

const check = () => stock.page({}, 1);
export const initialise = () => warmUp(check);

/** `GET /inventory`: the stock levels of all pets, in ascending petId (spec §4.1). */
export const handler = withHealthCheck(
  check,
  listHandler({
    operation: 'listInventory',
    status: petStatusSchema,
    entries: stock,
    toJson: inventoryItemToJson,
  }),
);
