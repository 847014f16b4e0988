import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { GatewayRecords } from '../../../infra/local/account/gateway-records.ts';
import { applyTemplate } from '../../../infra/local/account/template-records.ts';
import { HostError } from '../../../infra/local/host-error.ts';
import { ServedStack } from '../../../infra/local/template/stack.ts';
import { anApiKey, aUsagePlan } from '../../support/gateway-records.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const DATE = '2026-11-21';

const parent = temporaryFolder();
let folders = 0;

describe('records in a data folder', () => {
  let folder: string;
  let file: string;
  let records: GatewayRecords;

  beforeEach(() => {
    folder = path.join(parent, String(folders++));
    file = path.join(folder, 'gateway.json');
    records = GatewayRecords.open(folder);
  });

  const key = anApiKey({ name: 'acme', description: 'for tests', tags: { constructor: 'x', a: '' } });
  const plan = aUsagePlan({
    description: 'for tests',
    throttle: { rateLimit: 0.5, burstLimit: 2 },
    quota: { limit: 3 },
    tags: { plan: 'free' },
  });

  test('are all there again', () => {
    records.putApiKey(key);
    records.putUsagePlan(plan);
    records.putOnPlan('plan', 'k1');
    for (let count = 0; count < 2; count++) records.countRequest(DATE, 'plan', 'k1');
    records.notes.set('a/b', 'noted');
    records.save();
    const again = GatewayRecords.open(folder);

    expect(again.apiKeys).toEqual([key]);
    expect(again.apiKeyWithValue(key.value)).toEqual(key);
    expect(again.usagePlans).toEqual([plan]);
    expect(again.keysOnPlan('plan')).toEqual([key]);
    expect(again.plansOfKey('k1')).toEqual([plan]);
    expect(again.requestsOn(DATE, 'plan', 'k1')).toBe(2);
    expect(again.notes.get('a/b')).toBe('noted');
  });

  test('stay as they were where they cannot be written', () => {
    records.save();
    mkdirSync(`${file}.new`);
    records.putApiKey(key);
    expect(() => records.save()).toThrow(HostError);
    expect(() => records.save()).toThrow(/EISDIR/);
    expect(GatewayRecords.open(folder).apiKeys).toEqual([]);
    rmSync(`${file}.new`, { recursive: true });
  });

  test('have the requests of a second ago, without anybody asking', async () => {
    records.countRequest(DATE, 'plan', 'k1');
    while (!existsSync(file)) await sleep(50);

    expect(readFileSync(file, 'utf8')).toContain(`"usage":[["plan","k1","${DATE}",1]]`);
  });

  test('of another version are refused in one line', () => {
    writeFileSync(file, '{"apiKeys":[{"id":"k1"}]}');

    expect(() => GatewayRecords.open(folder)).toThrow(HostError);
    expect(() => GatewayRecords.open(folder)).toThrow(/^The data folder .* broken or of another version [^\n]+$/);
  });
});

type Resources = Readonly<Record<string, object>>;

const usagePlan = (settings: object = {}) => ({
  Type: 'AWS::ApiGateway::UsagePlan',
  Properties: { UsagePlanName: 'staging Free', ApiStages: [{ ApiId: 'api', Stage: 'v1' }], ...settings },
});
const planKey = (KeyId: unknown) => ({
  Type: 'AWS::ApiGateway::UsagePlanKey',
  Properties: { KeyId, KeyType: 'API_KEY', UsagePlanId: { Ref: 'Plan' } },
});
const Key = {
  Type: 'AWS::ApiGateway::ApiKey',
  Properties: { Value: 'of-the-template', Enabled: true, Description: 'd', Tags: [{ Key: 'a', Value: 'b' }] },
};

describe('the records of a template', () => {
  const limits = {
    Throttle: { RateLimit: 2, BurstLimit: 5 },
    Quota: { Limit: 20, Period: 'DAY' },
    Tags: [{ Key: 'plan', Value: 'free' }],
  };
  const resources = { Plan: usagePlan(limits), Key, PlanKey: planKey({ Ref: 'Key' }) };
  let records: GatewayRecords;

  const apply = (template: Resources) => applyTemplate(records, new ServedStack('test', { Resources: template }));

  beforeEach(() => {
    records = GatewayRecords.inMemory();
    apply(resources);
  });

  test('are its usage plans and API keys, by their logical ids, and which key is on which plan', () => {
    expect(records.usagePlans).toEqual([
      {
        id: 'Plan',
        name: 'staging Free',
        apiStages: [{ apiId: 'api', stage: 'v1' }],
        throttle: { rateLimit: 2, burstLimit: 5 },
        quota: { limit: 20 },
        tags: { plan: 'free' },
      },
    ]);
    expect(records.keysOnPlan('Plan')).toMatchObject([
      { id: 'Key', value: 'of-the-template', enabled: true, description: 'd', tags: { a: 'b' } },
    ]);
  });

  test('stop the local host where one names a key of another stack', () => {
    expect(() => apply({ ...resources, PlanKey: planKey('key-of-another-stack') })).toThrow(
      new HostError('Resource PlanKey: the template has no key-of-another-stack'),
    );
  });

  test('stop the local host where an admin has made a key of the same value', () => {
    records = GatewayRecords.inMemory();
    records.putApiKey(anApiKey({ value: 'of-the-template' }));

    expect(() => apply(resources)).toThrow('Resource Key: the API key k1 in the data folder has the same value');
  });

  test('stay as an admin has changed or deleted them where the template is the same', () => {
    apply({ ...resources, Other: usagePlan() });
    records.putUsagePlan(aUsagePlan({ id: 'Plan', name: 'changed', tags: { a: 'b' } }));
    records.deleteUsagePlan('Other');
    apply({ ...resources, Other: usagePlan() });

    expect(records.usagePlans).toMatchObject([{ id: 'Plan', name: 'changed', tags: { a: 'b' } }]);
  });

  test('are as in the template once it has changed a plan, whose keys stay', () => {
    records.putApiKey(anApiKey());
    records.putOnPlan('Plan', 'k1');
    apply({ ...resources, Plan: usagePlan({ Throttle: { RateLimit: 1, BurstLimit: 2 } }) });

    expect(records.usagePlan('Plan')).toMatchObject({ throttle: { rateLimit: 1, burstLimit: 2 } });
    expect(records.keysOnPlan('Plan')).toMatchObject([{ id: 'Key' }, { id: 'k1' }]);
  });

  test('are removed with the template’s plans and keys, with all that was on them', () => {
    records.putApiKey(anApiKey());
    records.putOnPlan('Plan', 'k1');
    apply({ Other: usagePlan() });

    expect(records.usagePlans).toMatchObject([{ id: 'Other' }]);
    expect(records.apiKeys).toMatchObject([{ id: 'k1' }]);
    expect(records.plansOfKey('k1')).toEqual([]);
  });
});
