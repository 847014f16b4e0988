import { beforeEach, describe, expect, test } from '@jest/globals';
import { demoKey, limitsOfDemoKey } from '../../../infra/demo-keys.ts';
import { issueDemoKeys, usagePlanOf } from '../../../infra/local/issue-demo-keys.ts';
import { UsageMeter } from '../../../infra/local/gateway/usage-meter.ts';
import { GatewayRecords } from '../../../infra/local/gateway-records/gateway-records.ts';
import { applyTemplate } from '../../../infra/local/gateway-records/template-records.ts';
import { HostError } from '../../../infra/local/host-error.ts';
import { LocalStack } from '../../../infra/local/template/stack.ts';
import { hashApiKey } from '../../../shared/keys/api-key.ts';
import { unusedCounters } from '../../../shared/keys/key-record.ts';
import { type PlanId, planIds, plans } from '../../../shared/keys/plans.ts';
import { EmbeddedDatabase } from '../../support/engines.ts';
import { anApiKey, apiStage } from '../../support/gateway-records.ts';
import { aKey, KeysTable } from '../../support/tables.ts';

const NOW = Date.UTC(2026, 10, 21, 9, 30);

describe('a demo key', () => {
  test.each<[PlanId, string]>([
    ['free', 'psk_Demofree550dd29c39b61a2319c34f83b5952e932aOLAJ'],
    ['pro', 'psk_Demopro729f6c50f3716ec24913a3a062e94fef64KoOY4'],
    ['business', 'psk_Demobusiness37b092f7467178486060a62c004f3bVAE1'],
    ['enterprise', 'psk_Demoenterprise3a77cc677ba979b95e12b702c42d7JB0'],
  ])('of the plan %s is the same on every machine: %s', (plan, key) => {
    expect(demoKey(plan)).toBe(key);
  });
});

/** The records of a template with the usage plans of these plans. */
function recordsWith(...named: readonly { readonly name: string; readonly tag: string }[]): GatewayRecords {
  const resources = named.map(({ name, tag }, index) => [
    `Plan${index}`,
    {
      Type: 'AWS::ApiGateway::UsagePlan',
      Properties: {
        UsagePlanName: name,
        ApiStages: [{ ApiId: apiStage.apiId, Stage: apiStage.stage }],
        Tags: [{ Key: 'plan', Value: tag }],
      },
    },
  ]);
  const records = GatewayRecords.inMemory();
  applyTemplate(records, new LocalStack('test', { Resources: Object.fromEntries(resources) }));
  return records;
}

const withPlans = (...ids: readonly PlanId[]) =>
  recordsWith(...ids.map((tag) => ({ name: `staging ${plans[tag].title}`, tag })));
const allPlans = () => withPlans(...planIds);
const recordOf = (plan: PlanId) => aKey({ keyHash: hashApiKey(demoKey(plan)) });

describe('the usage plan of a plan', () => {
  test('is the one with its tag, whatever the names', () => {
    const records = recordsWith({ name: 'staging Pro', tag: 'free' }, { name: 'staging Free', tag: 'pro' });

    expect(usagePlanOf(records, 'free')).toMatchObject({ name: 'staging Pro' });
  });
});

describe('issuing the demo keys', () => {
  const database = new EmbeddedDatabase();
  let table: KeysTable;
  let records: GatewayRecords;

  beforeEach(async () => {
    table = await KeysTable.create(database.client);
    records = allPlans();
  });

  const issue = () => issueDemoKeys(database.client, table.name, records);

  test.each(planIds)('puts the key of the plan %s into the table: its hash, unused, with its limits', async (plan) => {
    await issue();

    expect(await table.read(recordOf(plan))).toEqual({
      keyHash: hashApiKey(demoKey(plan)),
      keyId: `demo-${plan}`,
      lineage: `demo-${plan}`,
      name: `Demo ${plans[plan].title}`,
      plan,
      ...limitsOfDemoKey(plan),
      enabled: true,
      createdAt: expect.any(Number),
      usageIdentifier: 'hash',
      interimUntil: 0,
      revision: 1,
      revoked: false,
      ...unusedCounters,
    });
  });

  test.each(planIds)('puts the key of the plan %s on the usage plan of that name', async (plan) => {
    await issue();

    expect(new UsageMeter(records, apiStage).meter(hashApiKey(demoKey(plan)), NOW)).toBe(`demo-${plan}`);
    expect(records.plansOfKey(`demo-${plan}`)).toMatchObject([{ name: `staging ${plans[plan].title}` }]);
  });

  test('again leaves what an admin changed in the gateway', async () => {
    await issue();
    records.putApiKey({ ...anApiKey({ id: 'demo-pro' }), enabled: false });
    records.removeFromPlan('Plan1', 'demo-pro');
    await issue();

    expect(records.apiKey('demo-pro')).toMatchObject({ enabled: false });
    expect(records.plansOfKey('demo-pro')).toEqual([]);
  });

  test('again does not bring back a key that an admin deleted', async () => {
    await issue();
    records.deleteApiKey('demo-pro');
    await table.delete(recordOf('pro'));
    await issue();

    expect(records.apiKey('demo-pro')).toBeUndefined();
    await expect(table.read(recordOf('pro'))).rejects.toThrow('Invalid type');
  });

  test('fills a table that has lost all keys with those that the gateway still has', async () => {
    await issue();
    records.deleteApiKey('demo-pro');
    records.putApiKey({ ...anApiKey({ id: 'demo-business' }), enabled: false });
    table = await KeysTable.create(database.client);
    await issue();

    expect(await table.read(recordOf('free'))).toMatchObject({ enabled: true });
    expect(await table.read(recordOf('business'))).toMatchObject({ enabled: false });
    await expect(table.read(recordOf('pro'))).rejects.toThrow('Invalid type');
  });

  test('needs a usage plan for each plan of the catalogue', async () => {
    records = withPlans('free', 'pro', 'enterprise');

    await expect(issue()).rejects.toThrow(new HostError('The template has no usage plan Business'));
  });
});
