import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, ScanCommand } from '@aws-sdk/lib-dynamodb';
import { exactNumbers } from '../../shared/item-attributes.ts';
import { KeyTable } from '../../shared/key-registry/key-table.ts';
import type { PlanId } from '../../shared/keys/plans.ts';
import { account, localCredentials } from '../local-endpoint.ts';
import { petItem } from '../../shared/stores/find-pet.ts';
import { orderItem } from '../../shared/stores/order-list.ts';
import { stockItem } from '../../shared/stores/stock-store.ts';
import { type Item, writeItems } from '../write-items.ts';
import { issueDemoKeys } from './issue-demo-keys.ts';
import type { Engine } from './dynamodb/engine.ts';
import { createTables, tablesOf } from './dynamodb/tables.ts';
import type { GatewayRecords } from './control-plane/gateway-records.ts';
import { makeDirectory } from './data-directory.ts';
import { HostError } from './host-error.ts';
import { sampleOrders, samplePets, sampleStock } from './sample-data.ts';
import type { ServedStack } from './template/stack.ts';

/**
 * Creates missing tables, sample data and demo keys.
 *
 * @returns the plans whose demo key is valid
 * @throws HostError if the data directory has keys without API Gateway's state
 */
export async function prepareData(
  stack: ServedStack,
  engine: Engine,
  records: GatewayRecords,
  {
    sampleData,
    dataDirectory = 'memory',
  }: { readonly sampleData: boolean; readonly dataDirectory: string | undefined },
): Promise<Set<PlanId>> {
  const { region } = account;
  const client = new DynamoDBClient({ endpoint: engine.endpoint.href, region, credentials: localCredentials });
  const documents = DynamoDBDocumentClient.from(client, { unmarshallOptions: { ...exactNumbers } });
  const keysTable = outputOf(stack, 'KeysTableName');
  try {
    await createTables(client, tablesOf(stack));
    if (records.areNew) await refuseCustomerKeys(new KeyTable(documents, keysTable), dataDirectory);
    if (dataDirectory !== 'memory') pair(records, dataDirectory);
    if (sampleData) {
      await loadSampleData(documents, {
        stock: outputOf(stack, 'StockTableName'),
        pets: outputOf(stack, 'PetsTableName'),
        orders: outputOf(stack, 'OrdersTableName'),
      });
    }
    return await issueDemoKeys(documents, keysTable, records);
  } finally {
    client.destroy();
  }
}

/** The common id of API Gateway's state and the tables: an entry in the state, and a file next to the tables. */
const PAIR_ID = 'pair-id';

/** @throws HostError if state and tables come from two directories, or only one was restored */
export function pair({ notes }: GatewayRecords, dataDirectory: string): void {
  const file = join(makeDirectory(dataDirectory, 'dynamodb'), PAIR_ID);
  const ofTables = existsSync(file) ? readFileSync(file, 'utf8') : undefined;
  const ofState = notes.get(PAIR_ID);
  if (ofState !== undefined && ofState === ofTables) return;
  if (ofState !== undefined) {
    throw new HostError(
      `In ${dataDirectory}, gateway.json and dynamodb/ do not belong together. Restore the whole directory, or choose ` +
        'another with --data.',
    );
  }
  const id = randomUUID();
  writeFileSync(file, id);
  notes.set(PAIR_ID, id);
}

/**
 * A sync would mistake keys that API Gateway's state lacks for deleted, and revoke them. Those that a server was
 * issuing when it was killed are issued again.
 */
export async function refuseCustomerKeys(table: KeyTable, dataDirectory: string): Promise<void> {
  const records = await table.all((error) => {
    throw error;
  });
  if (records.every(({ revision, keyId = '' }) => revision === 1 && keyId.startsWith('demo-'))) return;
  throw new HostError(
    `The tables in ${dataDirectory} have API keys, but its gateway.json is missing. Restore it, or choose another directory ` +
      'with --data.',
  );
}

function outputOf(stack: ServedStack, name: string): string {
  const value = stack.outputs[name];
  if (value === undefined) throw new HostError(`The template has no output ${name}`);
  return value;
}

/**
 * Loads the sample data into each empty table. Other tables stay unchanged.
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
