import { type DynamoDBDocumentClient, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { type InventoryItem, petStatuses } from '../../shared/contract/inventory.ts';
import { isInt64 } from '../../shared/contract/int64.ts';
import { STORE_ID } from '../../shared/stock-store.ts';
import { writeStock } from '../write-stock.ts';

/** A small pet store: petId, quantity and status, a shelf each. */
const shelves = `
dogs         101 4 available  102 2 available  103 1 pending    104 0 sold       105 3 available  106 1 pending
cats         201 5 available  202 3 available  203 2 pending    204 0 sold       205 1 available
rabbits      301 8 available  302 6 available  303 0 sold       304 2 pending
guinea-pigs  401 12 available 402 7 available  403 4 pending
hamsters     501 15 available 502 9 available  503 0 sold
parrots      601 2 available  602 1 pending    603 0 sold
budgies      651 18 available 652 11 available
fish         701 120 available 702 85 available 703 40 pending  704 64 available 705 0 sold       706 33 available
turtles      801 3 available  802 1 pending
geckos       851 5 available  852 0 sold
ants         901 2500 available
`;

const statuses = new Map<string | undefined, InventoryItem['status']>(petStatuses.map((status) => [status, status]));

export const sampleStock: readonly InventoryItem[] = [
  ...shelves.matchAll(/(?<petId>\d+) +(?<quantity>\d+) +(?<status>[a-z]+)/g),
].flatMap(({ groups }) => {
  const petId = groups?.petId ?? '';
  const status = statuses.get(groups?.status);
  return isInt64(petId) && status ? [{ petId, quantity: Number(groups?.quantity), status }] : [];
});

/** Loads the sample stock into an empty store; existing data is never touched. */
export async function loadSampleStock(client: DynamoDBDocumentClient, stockTable: string): Promise<void> {
  const { Count } = await client.send(
    new QueryCommand({
      TableName: stockTable,
      KeyConditionExpression: 'storeId = :storeId',
      ExpressionAttributeValues: { ':storeId': STORE_ID },
      Limit: 1,
      ConsistentRead: true,
    }),
  );
  if (Count === 0) await writeStock(client, stockTable, sampleStock);
}
