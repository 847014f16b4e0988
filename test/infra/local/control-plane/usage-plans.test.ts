import { beforeEach, describe, expect, test } from '@jest/globals';
import { parseDate } from '../../../../infra/local/gateway-records/daily-usage.ts';
import { ControlPlaneCalls } from '../../../support/control-plane-calls.ts';
import { anApiKey, apiStage, aUsagePlan } from '../../../support/gateway-records.ts';

let plane: ControlPlaneCalls;

beforeEach(() => {
  plane = new ControlPlaneCalls();
});

const throttle = { rateLimit: 2.5, burstLimit: 5 };
const quota = { limit: 100, offset: 0, period: 'DAY' };

describe('CreateUsagePlan', () => {
  test('answers with the plan', async () => {
    const body = { name: 'acme', description: 'for tests', apiStages: [apiStage], throttle, quota, tags: { a: 'b' } };
    const answer = await plane.call('POST', '/usageplans', body);

    expect(answer).toMatchObject({ status: 201, body: { ...body, id: expect.stringMatching(/^[0-9a-z]{10}$/) } });
  });

  test.each([
    ['no name', { name: undefined }, 400, /name/],
    ['a throttle without a burst', { throttle: { rateLimit: 1 } }, 400, /burstLimit/],
    ['a quota of a week', { quota: { limit: 1, period: 'WEEK' } }, 400, /^quota.period: .* quotas of a DAY only$/],
    ['a product code', { productCode: 'p' }, 400, /does not know the member productCode/],
    ['a stage that is not there', { apiStages: [{ ...apiStage, stage: 'v2' }] }, 404, /Stage {api: api, stage: v2}/],
    ['a stage twice', { apiStages: [apiStage, apiStage] }, 409, /already associated/],
  ])('refuses %s', async (_, settings, status, message) => {
    expect(await plane.call('POST', '/usageplans', { name: 'acme', ...settings })).toMatchObject({
      status,
      message: expect.stringMatching(message),
    });
    expect(await plane.ids('/usageplans')).toEqual([]);
  });
});

test('GetUsagePlans lists all plans, or those of a key', async () => {
  for (const id of ['a', 'b', 'c']) plane.records.putUsagePlan(aUsagePlan({ id }));
  plane.records.putApiKey(anApiKey());
  plane.records.putOnPlan('b', 'k1');

  expect(await plane.ids('/usageplans')).toEqual(['a', 'b', 'c']);
  expect(await plane.ids('/usageplans?keyId=k1')).toEqual(['b']);
  expect(await plane.ids('/usageplans?keyId=none')).toEqual([]);
});

describe('UpdateUsagePlan', () => {
  const path = '/usageplans/plan';

  beforeEach(() => plane.records.putUsagePlan(aUsagePlan({ throttle, quota: { limit: 100 }, tags: { a: 'b' } })));

  test.each<[string[], object]>([
    [['replace /name acme inc.'], { name: 'acme inc.' }],
    [['replace /throttle/rateLimit 0.5'], { throttle: { rateLimit: 0.5, burstLimit: 5 } }],
    [['add /throttle/burstLimit 7'], { throttle: { rateLimit: 2.5, burstLimit: 7 } }],
    [['replace /quota/limit 7'], { quota: { limit: 7, offset: 0, period: 'DAY' } }],
    [['remove /apiStages api:v1', 'add /apiStages api:v1'], { apiStages: [apiStage] }],
  ])('does %j', async (operations, changed) => {
    expect(await plane.patch(path, ...operations)).toMatchObject({ status: 200, body: changed });
    expect((await plane.call('GET', path)).body).toMatchObject({ id: 'plan', tags: { a: 'b' }, ...changed });
  });

  test.each(['throttle', 'quota'])('removes the %s', async (part) => {
    await plane.patch(path, `remove /${part}`);

    expect((await plane.call('GET', path)).body).not.toHaveProperty(part);
  });

  test.each([
    ['replace /id x', 400, /^This host does not know the patch operation replace \/id$/],
    ['replace /throttle/rateLimit', 400, /throttle.rateLimit/],
    ['replace /quota/period WEEK', 400, /quotas of a DAY only/],
    ['add /apiStages api:v1', 409, /already associated/],
    ['remove /apiStages api:v2', 404, /^API Stage not found: api:v2$/],
  ])('refuses %s, and does none of the others', async (operation, status, message) => {
    const refused = await plane.patch(path, 'replace /name other', operation);

    expect(refused).toMatchObject({ status, message: expect.stringMatching(message) });
    expect((await plane.call('GET', path)).body).toMatchObject({ name: 'staging Free', throttle, quota });
  });

  test('refuses a stage on which a key of the plan is already', async () => {
    plane.records.putUsagePlan(aUsagePlan({ id: 'other', apiStages: [] }));
    plane.records.putApiKey(anApiKey());
    for (const id of ['plan', 'other']) plane.records.putOnPlan(id, 'k1');

    expect(await plane.patch('/usageplans/other', 'add /apiStages api:v1')).toMatchObject({
      status: 409,
      error: 'ConflictException',
    });
  });
});

describe('DeleteUsagePlan', () => {
  test('removes the plan, what its keys have used, and none of its keys', async () => {
    plane.records.putUsagePlan(aUsagePlan({ apiStages: [] }));
    plane.records.putApiKey(anApiKey());
    plane.records.putOnPlan('plan', 'k1');
    plane.records.countRequest('plan', 'k1', 20_000);

    expect(await plane.call('DELETE', '/usageplans/plan')).toMatchObject({ status: 202, body: undefined });
    expect(await plane.call('GET', '/usageplans/plan')).toMatchObject({ status: 404, error: 'NotFoundException' });
    expect(await plane.ids('/apikeys')).toEqual(['k1']);
    expect(await plane.ids('/usageplans?keyId=k1')).toEqual([]);
    expect(plane.records.usage('plan', 'k1').on(20_000)).toBe(0);
  });

  test('refuses a plan that is of a stage', async () => {
    plane.records.putUsagePlan(aUsagePlan());

    expect(await plane.call('DELETE', '/usageplans/plan')).toMatchObject({
      status: 400,
      message: 'Cannot delete Usage Plan plan because there are API Stages associated with it, including api:v1',
    });
  });
});

describe('the keys of a usage plan', () => {
  const keys = '/usageplans/plan/keys';
  const k1 = { id: 'k1', type: 'API_KEY', value: 'the-value-of-key-k1', name: 'acme' };

  beforeEach(() => {
    plane.records.putUsagePlan(aUsagePlan());
    plane.records.putApiKey(anApiKey({ name: 'acme' }));
  });

  const add = (keyId: string, path = keys) => plane.call('POST', path, { keyId, keyType: 'API_KEY' });

  test('are put on it, and taken off', async () => {
    expect(await add('k1')).toMatchObject({ status: 201, body: k1 });
    expect(await plane.call('GET', `${keys}/k1`)).toMatchObject({ status: 200, body: k1 });
    expect(await add('k1')).toMatchObject({ status: 409, error: 'ConflictException' });
    expect(await plane.call('DELETE', `${keys}/k1`)).toMatchObject({ status: 202, body: undefined });
    expect(await plane.ids(keys)).toEqual([]);
  });

  test('are on no other plan of the stage', async () => {
    plane.records.putUsagePlan(aUsagePlan({ id: 'other' }));
    plane.records.putOnPlan('other', 'k1');

    expect(await add('k1')).toMatchObject({
      status: 409,
      message:
        'Usage Plan plan cannot be added because API Key k1 cannot reference multiple Usage Plans with the same ' +
        'API stage: api:v1',
    });
  });

  test('are listed in pages, all of them or those whose name begins so', async () => {
    for (const id of ['k2', 'k3']) plane.records.putApiKey(anApiKey({ id, name: `acorn ${id}` }));
    for (const id of ['k1', 'k2', 'k3']) plane.records.putOnPlan('plan', id);

    expect(await plane.pages(`${keys}?limit=2`)).toEqual([['k1', 'k2'], ['k3']]);
    expect(await plane.ids(`${keys}?name=acorn`)).toEqual(['k2', 'k3']);
    expect(await plane.call('GET', `${keys}?limit=0`)).toMatchObject({ status: 400 });
  });

  test.each([
    ['a plan that is not there', 'POST', '/usageplans/none/keys', { keyId: 'k1', keyType: 'API_KEY' }, 404],
    ['a key that is not there', 'POST', keys, { keyId: 'none', keyType: 'API_KEY' }, 404],
    ['a key without a type', 'POST', keys, { keyId: 'k1' }, 400],
    ['a key that is not on the plan', 'DELETE', `${keys}/k1`, undefined, 404],
  ])('are none of these: %s', async (_, method, path, body, status) => {
    expect(await plane.call(method, path, body)).toMatchObject({ status });
  });
});

function use(keyId: string, date: string, requests: number): void {
  for (let count = 0; count < requests; count++) plane.records.countRequest('plan', keyId, parseDate(date) ?? 0);
}

describe('GetUsage', () => {
  const usage = '/usageplans/plan/usage';
  const days = 'startDate=2026-11-20&endDate=2026-11-22';

  beforeEach(() => {
    plane.records.putUsagePlan(aUsagePlan({ quota: { limit: 10 } }));
    for (const id of ['k1', 'k2']) {
      plane.records.putApiKey(anApiKey({ id }));
      plane.records.putOnPlan('plan', id);
    }
    use('k1', '2026-11-20', 3);
    use('k1', '2026-11-22', 12);
  });

  const k1 = [
    [3, 7],
    [0, 10],
    [12, 0],
  ];
  const k2 = k1.map(() => [0, 10]);

  test('answers with what was used and what was left on each day, by the id of the key', async () => {
    expect(await plane.call('GET', `${usage}?${days}`)).toMatchObject({
      status: 200,
      body: { usagePlanId: 'plan', startDate: '2026-11-20', endDate: '2026-11-22', values: { k1, k2 } },
    });
    expect((await plane.call('GET', `${usage}?${days}&keyId=k2`)).body).toHaveProperty('values', { k2 });
  });

  test('pages over the keys', async () => {
    const { body: first } = await plane.call('GET', `${usage}?${days}&limit=1`);
    const { body: second } = await plane.call('GET', `${usage}?${days}&limit=1&position=${Object(first).position}`);

    expect([first, second]).toMatchObject([{ values: { k1 } }, { values: { k2 } }]);
    expect(second).not.toHaveProperty('position');
  });

  test.each([
    ['no start', 'endDate=2026-11-20', /startDate must be a date/],
    ['a date that is none', 'startDate=2026-02-30&endDate=2026-03-01', /startDate must be a date/],
    ['an end before the start', 'startDate=2026-11-21&endDate=2026-11-20', /must not be before/],
    ['91 days', 'startDate=2026-01-01&endDate=2026-04-01', /at most 90 days/],
  ])('refuses %s', async (_, query, message) => {
    expect(await plane.call('GET', `${usage}?${query}`)).toMatchObject({
      status: 400,
      message: expect.stringMatching(message),
    });
  });
});
