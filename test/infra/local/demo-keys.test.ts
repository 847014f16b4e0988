import { beforeEach, describe, expect, test } from '@jest/globals';
import { demoKey, issueDemoKeys, limitsOfDemoKey } from '../../../infra/local/demo-keys.ts';
import { UsagePlans } from '../../../infra/local/gateway/usage-plans.ts';
import { HostError } from '../../../infra/local/host-error.ts';
import { LocalStack } from '../../../infra/local/template/stack.ts';
import { hashApiKey, isPlausibleApiKey } from '../../../shared/keys/api-key.ts';
import { Limiter } from '../../../shared/keys/limiter.ts';
import { type PlanId, planIds, plans } from '../../../shared/keys/plans.ts';
import { EmbeddedDatabase } from '../../support/embedded-database.ts';
import { aKey } from '../../support/key-records.ts';
import { KeysTable } from '../../support/keys-table.ts';

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

  test.each(planIds)('of the plan %s is well-formed', (plan) => {
    expect(isPlausibleApiKey(demoKey(plan))).toBe(true);
  });

  test('is of one plan only', () => {
    expect(new Set(planIds.map(demoKey)).size).toBe(planIds.length);
  });

  test.each(['free', 'pro', 'business'] as const)('of the plan %s has its limits', (plan) => {
    expect(limitsOfDemoKey(plan)).toEqual(plans[plan].limits);
  });

  test('of the Enterprise plan has limits of its own, above all others', () => {
    const { perMinute, perDay } = limitsOfDemoKey('enterprise');

    expect(perMinute).toBeGreaterThan(plans.business.limits.perMinute);
    expect(perDay).toBeGreaterThan(plans.business.limits.perDay);
  });
});

/** The usage plans of a template with these titles. */
function usagePlans(...titles: readonly string[]): UsagePlans {
  const resources = titles.map((title) => [
    title,
    { Type: 'AWS::ApiGateway::UsagePlan', Properties: { UsagePlanName: `staging ${title}`, ApiStages: [] } },
  ]);
  return new UsagePlans(new LocalStack('test', { Resources: Object.fromEntries(resources) }));
}

const allPlans = () => usagePlans('Free', 'Pro', 'Business', 'Enterprise');
const recordOf = (plan: PlanId) => aKey({ keyHash: hashApiKey(demoKey(plan)) });

describe('issuing the demo keys', () => {
  const database = new EmbeddedDatabase();
  let table: KeysTable;

  beforeEach(async () => {
    table = await KeysTable.create(database.client);
  });

  test('gives a key per plan', async () => {
    expect(await issueDemoKeys(database.client, table.name, allPlans())).toEqual({
      free: demoKey('free'),
      pro: demoKey('pro'),
      business: demoKey('business'),
      enterprise: demoKey('enterprise'),
    });
  });

  test.each(planIds)('puts the key of the plan %s into the table: its hash, unused, with its limits', async (plan) => {
    await issueDemoKeys(database.client, table.name, allPlans());

    expect(await table.read(recordOf(plan))).toEqual({
      keyHash: hashApiKey(demoKey(plan)),
      keyId: `demo-${plan}`,
      name: `Demo ${plans[plan].title}`,
      plan,
      ...limitsOfDemoKey(plan),
      enabled: true,
      usageIdentifier: 'hash',
      currentMinute: 0,
      minuteUsed: 0,
      dayUsed: 0,
      minuteRefused: 0,
      suspendedUntil: 0,
    });
  });

  test.each(planIds)('puts the key of the plan %s on the usage plan of that name', async (plan) => {
    const gateway = allPlans();
    await issueDemoKeys(database.client, table.name, gateway);

    expect(gateway.meter(hashApiKey(demoKey(plan)), NOW)).toBe(`demo-${plan}`);
  });

  test('again leaves what was counted', async () => {
    await issueDemoKeys(database.client, table.name, allPlans());
    const limiter = new Limiter(database.client, table.name);
    for (let request = 0; request < 3; request++) await limiter.admit(recordOf('free').keyHash, NOW);
    await issueDemoKeys(database.client, table.name, allPlans());

    expect(await table.read(recordOf('free'))).toMatchObject({ minuteUsed: 3, dayUsed: 3 });
  });

  test('again leaves what an admin changed', async () => {
    await issueDemoKeys(database.client, table.name, allPlans());
    await table.setEnabled(recordOf('pro'), false);
    await table.setLimits(recordOf('pro'), 5, 6);
    await issueDemoKeys(database.client, table.name, allPlans());

    expect(await table.read(recordOf('pro'))).toMatchObject({ enabled: false, perMinute: 5, perDay: 6 });
  });

  test('needs a usage plan for each plan of the catalogue', async () => {
    const issuing = issueDemoKeys(database.client, table.name, usagePlans('Free', 'Pro', 'Enterprise'));

    await expect(issuing).rejects.toThrow(new HostError('The template has no usage plan Business'));
  });

  test('does not hide why it cannot', async () => {
    await expect(issueDemoKeys(database.client, 'no-such-table', allPlans())).rejects.toMatchObject({
      name: 'ResourceNotFoundException',
    });
  });
});
