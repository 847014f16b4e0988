import { DeleteTableCommand } from '@aws-sdk/client-dynamodb';
import { DeleteCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { demoKey, limitsOfDemoKey } from '../../../infra/demo-keys.ts';
import { usageMeter } from '../../../infra/local/gateway/usage-meter.ts';
import { GatewayRecords, gatewayTable } from '../../../infra/local/control-plane/gateway-records.ts';
import { createTables } from '../../../infra/local/dynamodb/tables.ts';
import { issueDemoKeys, loadSampleData } from '../../../infra/local/prepare-data.ts';
import { sampleOrders, samplePets } from '../../../infra/local/sample-data.ts';
import { hashToken } from '../../../shared/keys/token.ts';
import { NO_EXPIRY } from '../../../shared/keys/key-record.ts';
import { type PlanId, planIds, plans } from '../../../shared/keys/plans.ts';
import { findPet } from '../../../shared/stores/find-pet.ts';
import { orderList } from '../../../shared/stores/order-list.ts';
import { stockList } from '../../../shared/stores/sorted-table.ts';
import { STORE_ID } from '../../../shared/stores/stock-store.ts';
import { EmbeddedDatabase } from '../../support/engines.ts';
import { anApiKey, apiStage, aUsagePlan } from '../../support/gateway-records.ts';
import { aKey, createOrdersTable, createPetsTable, createStockTable, KeysTable } from '../../support/tables.ts';

const NOW = Date.UTC(2026, 10, 21, 9, 30);

const database = new EmbeddedDatabase();

describe('issuing the demo keys', () => {
  let table: KeysTable;
  let records: GatewayRecords;

  beforeEach(async () => {
    table = await KeysTable.create(database.client);
    await createTables(database.client, [gatewayTable]);
    await restart();
  });

  afterEach(() => database.client.send(new DeleteTableCommand({ TableName: gatewayTable.TableName })));

  /** Reads what the last start has stored. */
  async function restart(): Promise<void> {
    records = new GatewayRecords(database.client);
    await records.load();
    // Their ids and names say nothing.
    for (const [index, plan] of planIds.entries())
      records.putUsagePlan(aUsagePlan({ id: `Plan${index}`, tags: { plan } }));
  }

  const issue = () => issueDemoKeys(database.client, table.name, records);
  const read = (plan: PlanId) => table.read(aKey({}, demoKey(plan)));

  test('puts the key of each plan into the table and on its usage plan', async () => {
    await issue();

    for (const plan of planIds) {
      const recordId = `petstoreinventory${demoKey(plan).slice(4, 20)}`;
      const token = { until: NO_EXPIRY, access: 'full', label: 'main', last: demoKey(plan).slice(-4) };
      expect(await read(plan)).toMatchObject({
        recordId,
        keyId: `demo-${plan}`,
        name: `Demo ${plans[plan].title}`,
        plan,
        ...limitsOfDemoKey(plan),
        enabled: true,
        revoked: false,
        tokens: { [hashToken(demoKey(plan))]: { ...token, since: expect.any(Number) } },
      });
      expect(usageMeter(records, apiStage)(recordId, NOW)).toBe(`demo-${plan}`);
      expect(records.plansOfKey(`demo-${plan}`)).toMatchObject([{ tags: { plan } }]);
      // Its limits are agreed, and stand on the key.
      const agreed = plan === 'enterprise' ? { 'per-minute': '48000', 'per-day': '10000000' } : {};
      expect(records.apiKey(`demo-${plan}`)?.tags).toEqual(agreed);
    }
  });

  test('again preserves changes and deletions by an admin', async () => {
    await issue();
    await records.saveApiKey(anApiKey({ id: 'demo-pro', enabled: false }));
    await records.removeApiKey('demo-free');
    await restart();
    await issue();

    expect(records.apiKey('demo-pro')).toMatchObject({ enabled: false });
    expect(records.plansOfKey('demo-pro')).toEqual([]);
    expect(records.apiKey('demo-free')).toBeUndefined();
  });

  test('again completes a start that was killed before the key reached API Gateway', async () => {
    await issue();
    const Key = { kind: 'demoKey', id: 'pro' };
    await database.client.send(new DeleteCommand({ TableName: gatewayTable.TableName, Key }));
    await records.removeApiKey('demo-pro');
    await restart();
    await issue();

    expect(records.plansOfKey('demo-pro')).toMatchObject([{ tags: { plan: 'pro' } }]);
  });
});

test('sample data are loaded only into empty tables', async () => {
  const { client } = database;
  const [stock, pets, orders] = await Promise.all([
    createStockTable(client),
    createPetsTable(client),
    createOrdersTable(client),
  ]);
  const Item = { storeId: STORE_ID, petId: -1, quantity: 5, status: 'sold' };
  await client.send(new PutCommand({ TableName: stock, Item }));
  await loadSampleData(client, { stock, pets, orders });

  expect(await Array.fromAsync(stockList(client, stock).all())).toEqual([
    [{ petId: '-1', quantity: 5, status: 'sold' }],
  ]);
  expect((await Array.fromAsync(orderList(client, orders).all())).flat()).toEqual(sampleOrders);
  expect(await Promise.all(samplePets.map(({ id }) => findPet(client, pets, id)))).toEqual(samplePets);
});
