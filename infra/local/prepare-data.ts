import { type DynamoDBDocumentClient, ScanCommand } from '@aws-sdk/lib-dynamodb';
import { petItem } from '../../shared/stores/find-pet.ts';
import { orderItem } from '../../shared/stores/order-list.ts';
import { stockItem } from '../../shared/stores/stock-store.ts';
import { type Item, writeItems } from '../write-items.ts';
import { type GatewayRecords, gatewayTable } from './control-plane/gateway-records.ts';
import { applyTemplate } from './control-plane/template-records.ts';
import { createTables, tablesOf } from './dynamodb/tables.ts';
import { LocalServerError } from './local-server-error.ts';
import { issueDemoKeys } from './issue-demo-keys.ts';
import { sampleOrders, samplePets, sampleStock, sampleUsage } from './sample-data.ts';
import type { ServedStack } from './template/stack.ts';

/** Creates missing tables, sample data and demo keys, and reads API Gateway's records. */
export async function prepareData(
  stack: ServedStack,
  client: DynamoDBDocumentClient,
  records: GatewayRecords,
  { sampleData }: { readonly sampleData: boolean },
): Promise<void> {
  await createTables(client, [...tablesOf(stack), gatewayTable]);
  await records.load();
  applyTemplate(records, stack);
  if (sampleData) {
    await loadSampleData(client, {
      stock: outputOf(stack, 'StockTableName'),
      pets: outputOf(stack, 'PetsTableName'),
      orders: outputOf(stack, 'OrdersTableName'),
      usage: outputOf(stack, 'UsageTableName'),
    });
  }
  await issueDemoKeys(client, outputOf(stack, 'KeysTableName'), records);
}

function outputOf(stack: ServedStack, name: string): string {
  const value = stack.outputs[name];
  if (value === undefined) throw new LocalServerError(`The template has no output ${name}`);
  return value;
}

/**
 * Loads the sample data into each empty table. Other tables stay unchanged.
 *
 * @param tables their names
 */
export async function loadSampleData(
  client: DynamoDBDocumentClient,
  tables: Readonly<Record<'stock' | 'pets' | 'orders' | 'usage', string>>,
): Promise<void> {
  await Promise.all([
    fill(client, tables.stock, sampleStock, stockItem),
    fill(client, tables.pets, samplePets, petItem),
    fill(client, tables.orders, sampleOrders, orderItem),
    fill(client, tables.usage, sampleUsage(Date.now()), (item) => item),
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
