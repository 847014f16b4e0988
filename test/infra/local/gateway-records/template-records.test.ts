import { describe, expect, test } from '@jest/globals';
import { GatewayRecords } from '../../../../infra/local/gateway-records/gateway-records.ts';
import { applyTemplate } from '../../../../infra/local/gateway-records/template-records.ts';
import { HostError } from '../../../../infra/local/host-error.ts';
import { LocalStack } from '../../../../infra/local/template/stack.ts';
import { anApiKey, aUsagePlan } from '../../../support/gateway-records.ts';

type Resources = Readonly<Record<string, object>>;

const usagePlan = (settings: object = {}) => ({
  Type: 'AWS::ApiGateway::UsagePlan',
  Properties: { UsagePlanName: 'staging Free', ApiStages: [{ ApiId: 'api', Stage: 'v1' }], ...settings },
});
const apiKey = (settings: object = {}) => ({
  Type: 'AWS::ApiGateway::ApiKey',
  Properties: { Value: 'of-the-template', Enabled: true, ...settings },
});
const planKey = (KeyId: unknown = { Ref: 'Key' }, UsagePlanId: unknown = { Ref: 'Plan' }) => ({
  Type: 'AWS::ApiGateway::UsagePlanKey',
  Properties: { KeyId, KeyType: 'API_KEY', UsagePlanId },
});

const resources = { Plan: usagePlan(), Key: apiKey(), PlanKey: planKey() };

function apply(records: GatewayRecords, template: Resources): GatewayRecords {
  applyTemplate(records, new LocalStack('test', { Resources: template }));
  return records;
}

const recordsOf = (template: Resources) => apply(GatewayRecords.inMemory(), template);

describe('the records of a template', () => {
  test('are its usage plans, by their logical ids', () => {
    const settings = {
      Throttle: { RateLimit: 2, BurstLimit: 5 },
      Quota: { Limit: 20, Period: 'DAY' },
      Tags: [{ Key: 'plan', Value: 'free' }],
    };

    expect(recordsOf({ Plan: usagePlan(settings) }).usagePlan('Plan')).toEqual({
      id: 'Plan',
      name: 'staging Free',
      apiStages: [{ apiId: 'api', stage: 'v1' }],
      throttle: { rateLimit: 2, burstLimit: 5 },
      quota: { limit: 20 },
      tags: { plan: 'free' },
    });
  });

  test('are its API keys', () => {
    const settings = { Description: 'for tests', Tags: [{ Key: 'a', Value: 'b' }] };

    expect(recordsOf({ Key: apiKey(settings) }).apiKey('Key')).toMatchObject({
      id: 'Key',
      value: 'of-the-template',
      enabled: true,
      description: 'for tests',
      tags: { a: 'b' },
    });
  });

  test.each([['an API key', planKey('key-of-another-stack')]])(
    'stop the local host where one names %s of another stack',
    (_, resource) => {
      const load = () => recordsOf({ ...resources, PlanKey: resource });

      expect(load).toThrow(HostError);
      expect(load).toThrow(/PlanKey.*of-another-stack/);
    },
  );

  test('stop the local host where an admin has made a key of the same value', () => {
    const records = GatewayRecords.inMemory();
    records.putApiKey(anApiKey({ value: 'of-the-template' }));

    expect(() => apply(records, resources)).toThrow(
      new HostError('Resource Key: the API key k1 in the data folder has the same value'),
    );
  });
});

describe('the same template again', () => {
  test('leaves what an admin has changed', () => {
    const records = recordsOf(resources);
    records.putUsagePlan(aUsagePlan({ id: 'Plan', name: 'changed', tags: { a: 'b' } }));
    apply(records, resources);

    expect(records.usagePlan('Plan')).toMatchObject({ name: 'changed', tags: { a: 'b' } });
  });

  test('leaves a plan deleted that an admin has deleted', () => {
    const records = recordsOf(resources);
    records.deleteUsagePlan('Plan');
    apply(records, resources);

    expect(records.usagePlans).toEqual([]);
  });
});

describe('another template', () => {
  test('applies what it says of a plan that it has changed, and leaves its keys', () => {
    const records = recordsOf(resources);
    records.putUsagePlan(aUsagePlan({ id: 'Plan', name: 'changed' }));
    records.putApiKey(anApiKey());
    records.putOnPlan('Plan', 'k1');
    apply(records, { ...resources, Plan: usagePlan({ Throttle: { RateLimit: 1, BurstLimit: 2 } }) });

    expect(records.usagePlan('Plan')).toMatchObject({
      name: 'staging Free',
      throttle: { rateLimit: 1, burstLimit: 2 },
    });
    expect(records.keysOnPlan('Plan')).toMatchObject([{ id: 'Key' }, { id: 'k1' }]);
  });

  test('removes the plans and keys that it has no more, with all that was on them', () => {
    const records = recordsOf(resources);
    records.putApiKey(anApiKey());
    records.putOnPlan('Plan', 'k1');
    apply(records, { Other: usagePlan() });

    expect(records.usagePlans).toMatchObject([{ id: 'Other' }]);
    expect(records.apiKeys).toMatchObject([{ id: 'k1' }]);
    expect(records.plansOfKey('k1')).toEqual([]);
  });
});
