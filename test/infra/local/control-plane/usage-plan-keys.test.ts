import { beforeEach, describe, expect, test } from '@jest/globals';
import { ControlPlaneCalls } from '../../../support/control-plane-calls.ts';
import { anApiKey, aUsagePlan } from '../../../support/gateway-records.ts';

const keys = '/usageplans/plan/keys';

let plane: ControlPlaneCalls;

beforeEach(() => {
  plane = new ControlPlaneCalls();
  plane.records.putUsagePlan(aUsagePlan());
  plane.records.putUsagePlan(aUsagePlan({ id: 'other' }));
  plane.records.putUsagePlan(aUsagePlan({ id: 'stageless', apiStages: [] }));
  plane.records.putApiKey(anApiKey({ name: 'acme' }));
});

const add = (keyId: string, path = keys) => plane.call('POST', path, { keyId, keyType: 'API_KEY' });

const k1 = { id: 'k1', type: 'API_KEY', value: 'the-value-of-key-k1', name: 'acme' };

describe('CreateUsagePlanKey', () => {
  test('puts the key on the plan', async () => {
    expect(await add('k1')).toMatchObject({ status: 201, body: k1 });
    expect(await plane.ids('/usageplans?keyId=k1')).toEqual(['plan']);
  });

  test('refuses a key that is on the plan', async () => {
    await add('k1');

    expect(await add('k1')).toMatchObject({ status: 409, error: 'ConflictException' });
  });

  test('refuses a key that is on another plan of the stage', async () => {
    await add('k1', '/usageplans/other/keys');

    expect(await add('k1')).toMatchObject({
      status: 409,
      error: 'ConflictException',
      message:
        'Usage Plan plan cannot be added because API Key k1 cannot reference multiple Usage Plans with the same ' +
        'API stage: api:v1',
    });
    expect(await plane.ids(keys)).toEqual([]);
  });

  test.each([
    ['a plan that is not there', '/usageplans/none/keys', { keyId: 'k1', keyType: 'API_KEY' }, 404],
    ['a key that is not there', keys, { keyId: 'none', keyType: 'API_KEY' }, 404],
    ['another type of key', keys, { keyId: 'k1', keyType: 'KEY' }, 400],
    ['no type', keys, { keyId: 'k1' }, 400],
    ['no key', keys, { keyType: 'API_KEY' }, 400],
  ])('refuses %s', async (_, path, body, status) => {
    expect(await plane.call('POST', path, body)).toMatchObject({ status });
  });
});

describe('GetUsagePlanKeys', () => {
  beforeEach(() => {
    plane.records.putApiKey(anApiKey({ id: 'k2', name: 'acorn' }));
    plane.records.putApiKey(anApiKey({ id: 'k3', name: 'bolt' }));
    plane.records.putApiKey(anApiKey({ id: 'k4', name: 'acme on no plan' }));
    for (const id of ['k1', 'k2', 'k3']) plane.records.putOnPlan('plan', id);
  });

  test.each([
    ['all keys of the plan', '', ['k1', 'k2', 'k3']],
    ['those whose name begins so', '?name=ac', ['k1', 'k2']],
  ])('lists %s', async (_, query, ids) => {
    expect(await plane.ids(`${keys}${query}`)).toEqual(ids);
  });

  test('lists in pages', async () => {
    expect(await plane.pages(`${keys}?limit=2`)).toEqual([['k1', 'k2'], ['k3']]);
  });
});

describe('GetUsagePlanKey and DeleteUsagePlanKey', () => {
  test('answer with the key, and take it off the plan', async () => {
    await add('k1');

    expect(await plane.call('GET', `${keys}/k1`)).toMatchObject({ status: 200, body: k1 });
    expect(await plane.call('DELETE', `${keys}/k1`)).toMatchObject({ status: 202, body: undefined });
    expect(await plane.ids(keys)).toEqual([]);
    expect(await plane.ids('/apikeys')).toEqual(['k1']);
  });

  test.each(['GET', 'DELETE'])('%s refuses a key that is not on the plan', async (method) => {
    for (const path of [`${keys}/k1`, `${keys}/none`, '/usageplans/none/keys/k1']) {
      expect(await plane.call(method, path)).toMatchObject({ status: 404, error: 'NotFoundException' });
    }
  });
});
