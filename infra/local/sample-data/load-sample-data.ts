import { type DynamoDBDocumentClient, ScanCommand } from '@aws-sdk/lib-dynamodb';
import { orderItem, petItem, stockItem } from '../../table-items.ts';
import { type Item, writeItems } from '../../write-items.ts';
import { sampleOrders } from './orders.ts';
import { samplePets, sampleStock } from './shelves.ts';

/** Names of the tables. */
export interface SampledTables {
  readonly stock: string;
  readonly pets: string;
  readonly orders: string;
}

/** Loads the sample store: into each table that is empty. What is in a table that is not stays as it is. */
export async function loadSampleData(
  client: DynamoDBDocumentClient,
  { stock, pets, orders }: SampledTables,
): Promise<void> {
  await Promise.all([
    fill(client, stock, sampleStock, stockItem),
    fill(client, pets, samplePets, petItem),
    fill(client, orders, sampleOrders, orderItem),
  ]);
}

async function fill<Entry>(
  client: DynamoDBDocumentClient,
  TableName: string,
  entries: readonly Entry[],
  toItem: (entry: Entry) => Item,
): Promise<void> {
  const { Items = [] } = await client.send(new ScanCommand({ TableName, Limit: 1, ConsistentRead: true }));
  if (Items.length === 0) await writeItems(client, TableName, entries, toItem);
}
