import { randomUUID } from 'node:crypto';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, ScanCommand } from '@aws-sdk/lib-dynamodb';
import { messageOf } from '../../shared/log.ts';
import { exactNumbers } from '../../shared/item-attributes.ts';
import { KeyTable } from '../../shared/key-registry/key-table.ts';
import type { PlanId } from '../../shared/keys/plans.ts';
import { account, localCredentials } from '../local-endpoint.ts';
import { orderItem } from '../../shared/stores/order-list.ts';
import { petItem } from '../../shared/stores/find-pet.ts';
import { stockItem } from '../../shared/stores/stock-store.ts';
import { type Item, writeItems } from '../write-items.ts';
import { issueDemoKeys } from './issue-demo-keys.ts';
import type { Engine } from './dynamodb/engine.ts';
import { claimEngine, type EngineClaim } from './dynamodb/engine-claim.ts';
import { createTables, tablesOf } from './dynamodb/tables.ts';
import type { GatewayRecords } from './control-plane/gateway-records.ts';
import { HostError } from './host-error.ts';
import { sampleOrders, samplePets, sampleStock } from './sample-data.ts';
import type { ServedStack } from './template/stack.ts';

/** Of one call: an engine that takes connections and never answers must not hold up the start. */
const TIMEOUT_MS = 3_000;

/**
 * Creates what a host starts with and does not have yet: tables, sample data, demo keys.
 *
 * @returns the plans whose demo key opens it
 * @throws HostError where the engine cannot be used, by this host or with this state
 */
export async function prepareData(
  stack: ServedStack,
  engine: Engine,
  records: GatewayRecords,
  { sampleData, dataFolder = 'memory' }: { readonly sampleData: boolean; readonly dataFolder: string | undefined },
  closings: AsyncDisposableStack,
): Promise<Set<PlanId>> {
  const client = new DynamoDBClient({
    endpoint: engine.endpoint.href,
    region: account.region,
    credentials: localCredentials,
    maxAttempts: 1,
    requestHandler: { connectionTimeout: TIMEOUT_MS, requestTimeout: TIMEOUT_MS, throwOnRequestTimeout: true },
  });
  closings.defer(() => client.destroy());
  const documents = DynamoDBDocumentClient.from(client, { unmarshallOptions: { ...exactNumbers } });
  const keysTable = outputOf(stack, 'KeysTableName');
  try {
    const claim = await claimEngine(documents, engine);
    closings.defer(() => claim.release());
    await createTables(client, tablesOf(stack));
    await pair(records, claim, new KeyTable(documents, keysTable), dataFolder);
    if (sampleData) {
      await loadSampleData(documents, {
        stock: outputOf(stack, 'StockTableName'),
        pets: outputOf(stack, 'PetsTableName'),
        orders: outputOf(stack, 'OrdersTableName'),
      });
    }
    return await issueDemoKeys(documents, keysTable, records);
  } catch (error) {
    if (error instanceof HostError || engine.isEmbedded) throw error;
    throw new HostError(
      `The DynamoDB engine at ${engine.endpoint.origin} cannot be used: ${messageOf(error).replace(/\.$/, '')}. ` +
        'Start it, or leave out --dynamodb.',
    );
  }
}

/** The note that has the id by which API Gateway's state and the tables know each other. */
const STATE_ID = 'stateId';

/**
 * Makes sure that API Gateway's state and the tables belong together: a sync would take the keys of other tables for
 * deleted, and block them.
 *
 * @throws HostError where one is without the other
 */
export async function pair(
  { notes }: GatewayRecords,
  claim: Pick<EngineClaim, 'stateId' | 'setStateId'>,
  table: KeyTable,
  dataFolder: string,
): Promise<void> {
  const id = notes.get(STATE_ID);
  if (id !== undefined && id === claim.stateId) return;
  if (id !== undefined) {
    throw new HostError(
      `The tables are not those of the API keys in ${dataFolder}. Start with the engine that they were made with ` +
        '(--dynamodb URL, or without), or choose another folder with --data.',
    );
  }
  if (await hasCustomerKeys(table)) {
    throw new HostError(
      `The tables have API keys that are not in --data ${dataFolder}. Choose the folder that they were made with by ` +
        '--data, or take an engine with empty tables.',
    );
  }
  // The tables come first: a host that is killed here leaves a state that is new.
  const newId = randomUUID();
  await claim.setStateId(newId);
  notes.set(STATE_ID, newId);
}

/** Beside the demo keys, which every host makes anew. One that an admin has changed is a key like any other. */
async function hasCustomerKeys(table: KeyTable): Promise<boolean> {
  const records = await table.all((error) => {
    throw error;
  });
  return records.some(({ revision, keyId = '' }) => revision > 1 || !keyId.startsWith('demo-'));
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
