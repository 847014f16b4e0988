import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { demoKey, limitsOfDemoKey } from '../../../infra/demo-keys.ts';
import { issueDemoKeys } from '../../../infra/local/issue-demo-keys.ts';
import { UsageMeter } from '../../../infra/local/gateway/usage-meter.ts';
import { GatewayRecords } from '../../../infra/local/account/gateway-records.ts';
import { applyTemplate } from '../../../infra/local/account/template-records.ts';
import { HostError } from '../../../infra/local/host-error.ts';
import { loadSampleData } from '../../../infra/local/prepare-data.ts';
import { sampleOrders, samplePets } from '../../../infra/local/sample-data.ts';
import { ServedStack } from '../../../infra/local/template/stack.ts';
import { hashToken } from '../../../shared/keys/token.ts';
import { NEVER } from '../../../shared/keys/working-token.ts';
import { type PlanId, planIds, plans } from '../../../shared/keys/plans.ts';
import { orderList } from '../../../shared/stores/order-list.ts';
import { stockList, STORE_ID } from '../../../shared/stores/sorted-table.ts';
import { findPet } from '../../../shared/stores/find-pet.ts';
import { EmbeddedDatabase } from '../../support/engines.ts';
import { anApiKey, apiStage } from '../../support/gateway-records.ts';
import { aKey, createOrdersTable, createPetsTable, createStockTable, KeysTable } from '../../support/tables.ts';

const NOW = Date.UTC(2026, 10, 21, 9, 30);

const database = new EmbeddedDatabase();

test('The demo keys are the same on every machine', () => {
  expect(planIds.map(demoKey)).toEqual([
    'psk_Demofree550dd29c39b61a2319c34f83b5952e932aOLAJ',
    'psk_Demopro729f6c50f3716ec24913a3a062e94fef64KoOY4',
    'psk_Demobusiness37b092f7467178486060a62c004f3bVAE1',
    'psk_Demoenterprise3a77cc677ba979b95e12b702c42d7JB0',
  ]);
});

/** The records of a template with the usage plans of these plans, whose names say nothing. */
function recordsWith(ids: readonly PlanId[]): GatewayRecords {
  const resources = ids.map((Value, index) => [
    `Plan${index}`,
    {
      Type: 'AWS::ApiGateway::UsagePlan',
      Properties: {
        UsagePlanName: `plan ${index}`,
        ApiStages: [{ ApiId: apiStage.apiId, Stage: apiStage.stage }],
        Tags: [{ Key: 'plan', Value }],
      },
    },
  ]);
  const empty = GatewayRecords.inMemory();
  applyTemplate(empty, new ServedStack('test', { Resources: Object.fromEntries(resources) }));
  return empty;
}

describe('issuing the demo keys', () => {
  let table: KeysTable;
  let records: GatewayRecords;

  beforeEach(async () => {
    table = await KeysTable.create(database.client);
    records = recordsWith(planIds);
  });

  const issue = () => issueDemoKeys(database.client, table.name, records);
  const read = (plan: PlanId) => table.read(aKey({}, demoKey(plan)));

  test('puts the key of each plan into the table and on the usage plan with its tag', async () => {
    await issue();

    for (const plan of planIds) {
      const recordId = `petstoreinventory${demoKey(plan).slice(4, 20)}`;
      const token = { until: NEVER, access: 'full', label: 'main', last: demoKey(plan).slice(-4) };
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
      expect(new UsageMeter(records, apiStage).meter(recordId, NOW)).toBe(`demo-${plan}`);
      expect(records.plansOfKey(`demo-${plan}`)).toMatchObject([{ tags: { plan } }]);
      // Its limits are agreed, and stand on the key.
      const agreed = plan === 'enterprise' ? { 'per-minute': '60000', 'per-day': '10000000' } : {};
      expect(records.apiKey(`demo-${plan}`)?.tags).toEqual(agreed);
    }
  });

  test('again leaves what an admin changed or deleted', async () => {
    await issue();
    records.putApiKey({ ...anApiKey({ id: 'demo-pro' }), enabled: false });
    records.removeFromPlan('Plan1', 'demo-pro');
    records.deleteApiKey('demo-free');
    await issue();

    expect(records.apiKey('demo-pro')).toMatchObject({ enabled: false });
    expect(records.plansOfKey('demo-pro')).toEqual([]);
    expect(records.apiKey('demo-free')).toBeUndefined();
  });

  test('fills a table that has lost all keys with those that the gateway still has', async () => {
    await issue();
    records.deleteApiKey('demo-pro');
    records.putApiKey({ ...anApiKey({ id: 'demo-business' }), enabled: false });
    table = await KeysTable.create(database.client);
    await issue();

    expect(await read('free')).toMatchObject({ enabled: true });
    expect(await read('business')).toMatchObject({ enabled: false });
    await expect(read('pro')).rejects.toThrow('Invalid type');
  });

  test('needs a usage plan for each plan of the catalogue', async () => {
    records = recordsWith(['free', 'pro', 'enterprise']);

    await expect(issue()).rejects.toThrow(new HostError('The template has no usage plan Business'));
  });
});

test('The sample data fill the tables that are empty, and leave a table alone that has any entry', async () => {
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
