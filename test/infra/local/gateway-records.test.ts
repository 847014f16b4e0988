import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { GatewayRecords } from '../../../infra/local/control-plane/gateway-records.ts';
import { applyTemplate } from '../../../infra/local/control-plane/template-records.ts';
import { HostError } from '../../../infra/local/host-error.ts';
import { ServedStack } from '../../../infra/local/template/stack.ts';
import { anApiKey, aUsagePlan } from '../../support/gateway-records.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const DATE = '2026-11-21';

const parent = temporaryDirectory();
let directories = 0;

describe('records in a data directory', () => {
  let directory: string;
  let file: string;
  let records: GatewayRecords;

  beforeEach(() => {
    directory = path.join(parent, String(directories++));
    file = path.join(directory, 'gateway.json');
    records = GatewayRecords.open(directory);
  });

  const key = anApiKey({ name: 'acme', description: 'for tests', tags: { a: '' } });
  test('are all there again, but the usage plans, which the template has', async () => {
    records.putApiKey(key);
    records.putUsagePlan(aUsagePlan());
    records.putOnPlan('plan', 'k1');
    for (let count = 0; count < 2; count++) records.countRequest(DATE, 'plan', 'k1');
    records.notes.set('a/b', 'noted');
    await records.save();
    const again = GatewayRecords.open(directory);
    again.putUsagePlan(aUsagePlan());

    expect(again.apiKeys).toEqual([key]);
    expect(again.keysOnPlan('plan')).toEqual([key]);
    expect(again.requestsOn(DATE, 'plan', 'k1')).toBe(2);
    expect(again.notes.get('a/b')).toBe('noted');
    expect([records.areNew, again.areNew]).toEqual([true, false]);
  });

  test('stay as they were where they cannot be written', async () => {
    await records.save();
    mkdirSync(`${file}.new`);
    records.putApiKey(key);
    await expect(records.save()).rejects.toThrow(HostError);
    await expect(records.save()).rejects.toThrow(/EISDIR/);
    expect(GatewayRecords.open(directory).apiKeys).toEqual([]);
    rmSync(`${file}.new`, { recursive: true });
  });

  test('of another version are refused in one line', () => {
    writeFileSync(file, '{"apiKeys":[{"id":"k1"}]}');

    expect(() => GatewayRecords.open(directory)).toThrow(HostError);
    expect(() => GatewayRecords.open(directory)).toThrow(/^The data directory .* broken or of another version [^\n]+$/);
  });
});

test('The records of a template are gone with it; what admins have put on its plans stays', async () => {
  const Resources = {
    Plan: {
      Type: 'AWS::ApiGateway::UsagePlan',
      Properties: { UsagePlanName: 'staging Free', ApiStages: [], Quota: { Limit: 20, Period: 'DAY' } },
    },
    Key: { Type: 'AWS::ApiGateway::ApiKey', Properties: { Value: 'of-the-template', Enabled: true } },
    PlanKey: {
      Type: 'AWS::ApiGateway::UsagePlanKey',
      Properties: { KeyId: { Ref: 'Key' }, KeyType: 'API_KEY', UsagePlanId: { Ref: 'Plan' } },
    },
  };
  const stack = new ServedStack('test', { Resources });
  const directory = path.join(parent, 'applied');
  const records = GatewayRecords.open(directory);
  applyTemplate(records, stack);
  records.putApiKey(anApiKey());
  records.putOnPlan('Plan', 'k1');
  await records.save();
  const again = GatewayRecords.open(directory);

  expect([again.apiKeys, again.usagePlans]).toMatchObject([[{ id: 'k1' }], []]);
  applyTemplate(again, stack);
  expect(again.keysOnPlan('Plan')).toMatchObject([
    { id: 'k1' },
    { id: 'Key', value: 'of-the-template', enabled: true },
  ]);
  expect(again.usagePlans).toMatchObject([{ id: 'Plan', quota: { limit: 20 } }]);
});
