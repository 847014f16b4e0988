import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { createControlPlane } from '../../../infra/local/control-plane/control-plane.ts';
import { applyTemplate, GatewayRecords, gatewayTable } from '../../../infra/local/control-plane/gateway-records.ts';
import { createTables } from '../../../infra/local/dynamodb/tables.ts';
import { ServedStack } from '../../../infra/local/template/stack.ts';
import { EmbeddedDatabase } from '../../support/engines.ts';
import { anApiKey, aUsagePlan } from '../../support/gateway-records.ts';
import { signature } from './control-plane-calls.ts';

const database = new EmbeddedDatabase();
const key = anApiKey({ name: '', description: 'for tests', tags: { a: '' }, planId: 'plan' });

/** The records of the next start. */
async function started(): Promise<GatewayRecords> {
  const records = new GatewayRecords(database.client);
  await records.load();
  return records;
}

test('a change that cannot be stored returns 500 and changes nothing', async () => {
  const errors = jest.spyOn(process.stderr, 'write').mockReturnValue(true);
  // There is no table yet.
  const records = new GatewayRecords(database.client);
  records.putApiKey(key);
  records.putUsagePlan(aUsagePlan({ id: 'other' }));
  const controlPlane = createControlPlane(records, () => errors.mockRestore());
  const headers = { Authorization: signature };
  const responses = [
    await controlPlane.request('/apikeys', { method: 'POST', headers }),
    await controlPlane.request('/apikeys/k1', { method: 'DELETE', headers }),
  ];

  expect(responses.map(({ status }) => status)).toEqual([500, 500]);
  expect(records.apiKeys).toEqual([key]);
  expect(errors).toHaveBeenCalledTimes(2);
  errors.mockRestore();
});

describe('stored records', () => {
  beforeEach(() => createTables(database.client, [gatewayTable]));

  test('survive a restart: keys with their plan', async () => {
    const records = await started();
    await records.saveApiKey(key);
    await records.saveApiKey(anApiKey({ id: 'deleted' }));
    await records.removeApiKey('deleted');

    expect((await started()).apiKeys).toEqual([key]);
  });

  test('contain both of two concurrent changes to a key', async () => {
    const records = await started();
    await records.saveApiKey(key);
    const controlPlane = createControlPlane(records, () => undefined);
    const change = (path: string, value: string) =>
      controlPlane.request('/apikeys/k1', {
        method: 'PATCH',
        headers: { Authorization: signature },
        body: JSON.stringify({ patchOperations: [{ op: 'replace', path, value }] }),
      });
    await Promise.all([change('/name', 'renamed'), change('/enabled', 'false')]);
    const changed = { ...key, name: 'renamed', enabled: false };

    expect([records.apiKey('k1'), (await started()).apiKey('k1')]).toEqual([changed, changed]);
  });

  test('contain the keys of admins, but no keys or plans of the template', async () => {
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
    const records = await started();
    applyTemplate(records, stack);
    const ofTemplate = records.apiKey('Key') ?? key;
    await records.saveApiKey({ ...ofTemplate, enabled: false });
    await records.saveApiKey(anApiKey({ planId: 'Plan' }));
    const again = await started();

    expect([again.apiKeys, again.usagePlans]).toMatchObject([[{ id: 'k1' }], []]);
    applyTemplate(again, stack);
    expect(again.keysOnPlan('Plan')).toMatchObject([
      { id: 'k1' },
      { id: 'Key', value: 'of-the-template', enabled: true },
    ]);
    expect(again.usagePlans).toMatchObject([{ id: 'Plan', quota: { limit: 20 } }]);
  });
});
