import { type DynamoDBDocumentClient, ScanCommand } from '@aws-sdk/lib-dynamodb';
import { gatewayTags } from '../../shared/key-registry/gateway-tags.ts';
import { KeyTable } from '../../shared/key-registry/key-table.ts';
import { KeyUsage } from '../../shared/key-registry/key-usage.ts';
import { newRecord, tokenEntry } from '../../shared/key-registry/record-changes.ts';
import { type PlanId, planIds, plans } from '../../shared/keys/plans.ts';
import { parseToken } from '../../shared/keys/token.ts';
import type { Item } from '../../shared/item-attributes.ts';
import { petItem } from '../../shared/stores/find-pet.ts';
import { orderItem } from '../../shared/stores/order-list.ts';
import { StockHistory } from '../../shared/stores/stock-history.ts';
import { stockItem, StockStore } from '../../shared/stores/stock-store.ts';
import { demoKey, limitsOfDemoKey } from '../demo-keys.ts';
import { createTables, tablesOf, writeItems } from './dynamodb/tables.ts';
import { applyTemplate, type GatewayRecords, gatewayTable, type UsagePlan } from './control-plane/gateway-records.ts';
import { LocalServerError } from './local-server-error.ts';
import { sampleChanges, sampleOrders, samplePets, sampleStock, sampleUsage } from './sample-data.ts';
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
    });
  }
  await issueDemoKeys(client, outputOf(stack, 'KeysTableName'), records);
}

/**
 * Adds sample usage, and sample changes of pets 101, 301 and 401, each to an empty table. The totals of usage come
 * last: the next start repeats what was interrupted.
 */
export async function loadSampleMonth(stack: ServedStack, client: DynamoDBDocumentClient): Promise<void> {
  const usageTable = outputOf(stack, 'UsageTableName');
  const usage = await new KeyUsage(client, usageTable).of(undefined, '');
  for (const items of usage.length === 0 ? sampleUsage(Date.now()) : [])
    await writeItems(client, usageTable, items, (item) => item);
  const tableName = outputOf(stack, 'ChangesTableName');
  const stock = new StockStore(client, outputOf(stack, 'StockTableName'));
  const history = new StockHistory({ client, tableName, onLost: () => undefined });
  const pets = sampleStock.filter(({ petId }) => ['101', '301', '401'].includes(petId));
  const entries = await Promise.all(pets.map(({ petId }) => stock.find(petId)));
  const changes = entries.flatMap((entry) => (entry ? sampleChanges(entry, Date.now()) : []));
  await fill(client, tableName, changes, (change) => history.writeOf(...change).Item);
}

function outputOf(stack: ServedStack, name: string): string {
  const value = stack.outputs[name];
  if (value === undefined) throw new LocalServerError(`The template has no output ${name}`);
  return value;
}

/** Loads the sample data into each empty table, by its name. Other tables stay unchanged. */
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

/** The template's usage plan for a plan of the catalog. */
export function templatePlanOf(records: GatewayRecords, plan: PlanId): UsagePlan | undefined {
  return records.usagePlans.find(({ tags }) => tags[gatewayTags.plan] === plan);
}

/** Issues the demo keys once: a key that an admin has changed or deleted stays so. */
export async function issueDemoKeys(
  client: DynamoDBDocumentClient,
  keysTable: string,
  records: GatewayRecords,
): Promise<void> {
  const table = new KeyTable(client, keysTable);
  const missing = planIds.filter((plan) => !records.issuedDemoKeys.has(plan));
  await Promise.all(missing.map((plan) => issue(table, records, plan)));
}

/** Existing key records stay. The item that it is issued comes last: the next start repairs one that was killed. */
async function issue(table: KeyTable, records: GatewayRecords, plan: PlanId): Promise<void> {
  const usagePlan = templatePlanOf(records, plan);
  if (!usagePlan) throw new LocalServerError(`The template has no usage plan ${plans[plan].title}`);
  const recordId = parseToken(demoKey(plan))?.recordId ?? '';
  const keyId = `demo-${plan}`;
  // In whole seconds, as in API Gateway.
  const createdAt = Math.floor(Date.now() / 1_000) * 1_000;
  const identity = { name: `Demo ${plans[plan].title}`, enabled: true, createdAt };
  const { perMinute, perDay } = limitsOfDemoKey(plan);
  const tokens = tokenEntry(demoKey(plan), {}, createdAt);
  await table.add(newRecord({ ...identity, perMinute, perDay, recordId, keyId, plan, tokens }));
  const agreed = { [gatewayTags.perMinute]: String(perMinute), [gatewayTags.perDay]: String(perDay) };
  const tags = plans[plan].limits === 'agreed' ? agreed : {};
  await records.saveApiKey({ ...identity, id: keyId, value: recordId, tags, planId: usagePlan.id });
  await records.saveIssuedDemoKey(plan);
}
