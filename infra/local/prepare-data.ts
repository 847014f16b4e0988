import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, ScanCommand } from '@aws-sdk/lib-dynamodb';
import { exactNumbers } from '../../shared/item-attributes.ts';
import type { PlanId } from '../../shared/keys/plans.ts';
import { account, localCredentials } from '../local-endpoint.ts';
import { orderItem } from '../../shared/stores/order-list.ts';
import { petItem } from '../../shared/stores/find-pet.ts';
import { stockItem } from '../../shared/stores/stock-store.ts';
import { type Item, writeItems } from '../write-items.ts';
import { issueDemoKeys } from './issue-demo-keys.ts';
import type { Engine } from './dynamodb/engine.ts';
import { createTables, tablesOf } from './dynamodb/tables.ts';
import type { GatewayRecords } from './account/gateway-records.ts';
import { HostError, messageOf } from './host-error.ts';
import { sampleOrders, samplePets, sampleStock } from './sample-data.ts';
import type { ServedStack } from './template/stack.ts';

/**
 * Creates what a host starts with and does not have yet: tables, sample data, demo keys.
 *
 * @returns the plans whose demo key opens it
 * @throws HostError where the engine cannot be used
 */
export async function prepareData(
  stack: ServedStack,
  { endpoint }: Engine,
  records: GatewayRecords,
  sampleData: boolean,
): Promise<Set<PlanId>> {
  const { region } = account;
  const client = new DynamoDBClient({ endpoint: endpoint.href, region, credentials: localCredentials, maxAttempts: 2 });
  const documents = DynamoDBDocumentClient.from(client, { unmarshallOptions: { ...exactNumbers } });
  try {
    await createTables(client, tablesOf(stack));
    if (sampleData) {
      await loadSampleData(documents, {
        stock: outputOf(stack, 'StockTableName'),
        pets: outputOf(stack, 'PetsTableName'),
        orders: outputOf(stack, 'OrdersTableName'),
      });
    }
    return await issueDemoKeys(documents, outputOf(stack, 'KeysTableName'), records);
  } catch (error) {
    if (error instanceof HostError) throw error;
    throw new HostError(
      `The DynamoDB engine at ${endpoint.origin} cannot be used: ${messageOf(error)}. Start it, or leave out --dynamodb.`,
    );
  } finally {
    client.destroy();
  }
}

function outputOf(stack: ServedStack, name: string): string {
  const value = stack.outputs[name];
  if (value === undefined) throw new HostError(`The template has no output ${name}`);
  return value;
}

/**
 * Loads the sample store: into each table that is empty. What is in a table that is not stays as it is.
 *
 * @param tables their names
 */
export async function loadSampleData(
  client: DynamoDBDocumentClient,
  tables: Readonly<Record<'stock' | 'pets' | 'orders', string>>,
): Promise<void> {
  await Promise.all([
    fill(client, tables.stock, sampleStock, stockItem),
    fill(client, tables.pets, samplePets, petItem),
    fill(client, tables.orders, sampleOrders, orderItem),
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
