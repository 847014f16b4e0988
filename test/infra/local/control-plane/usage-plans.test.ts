import { beforeEach, describe, expect, test } from '@jest/globals';
import { ControlPlaneCalls } from '../../../support/control-plane-calls.ts';
import { anApiKey, apiStage, aUsagePlan } from '../../../support/gateway-records.ts';

let plane: ControlPlaneCalls;

beforeEach(() => {
  plane = new ControlPlaneCalls();
});

const stageOf = (differences: object) => ({ apiStages: [{ ...apiStage, ...differences }] });
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
    ['an empty name', { name: '' }, 400, /name/],
    ['a throttle without a burst', { throttle: { rateLimit: 1 } }, 400, /burstLimit/],
    ['a quota without a period', { quota: { limit: 1 } }, 400, /quota/],
    ['a quota of a week', { quota: { limit: 1, period: 'WEEK' } }, 400, /^quota.period: .* quotas of a DAY only$/],
    ['an offset', { quota: { limit: 1, offset: 1, period: 'DAY' } }, 400, /^quota.offset: This host knows no quota/],
    ['a product code', { productCode: 'p' }, 400, /does not know the member productCode/],
    ['a member of a stage', stageOf({ region: 'x' }), 400, /apiStages.0.region/],
    ['a throttle of a method', stageOf({ throttle: { '/inventory/GET': throttle } }), 400, /apiStages.0.throttle/],
    [
      'an API that is not there',
      stageOf({ apiId: 'x' }),
      404,
      /^Invalid API Stage {api: x, stage: v1} specified for usageplan \w+$/,
    ],
    ['a stage that is not there', stageOf({ stage: 'v2' }), 404, /^Invalid API Stage {api: api, stage: v2}/],
    ['a stage twice', { apiStages: [apiStage, apiStage] }, 409, /already associated/],
  ])('refuses %s', async (_, settings, status, message) => {
    expect(await plane.call('POST', '/usageplans', { name: 'acme', ...settings })).toMatchObject({
      status,
      message: expect.stringMatching(message),
    });
    expect(await plane.ids('/usageplans')).toEqual([]);
  });
});

describe('GetUsagePlans', () => {
  beforeEach(() => {
    for (const id of ['a', 'b', 'c']) plane.records.putUsagePlan(aUsagePlan({ id }));
    plane.records.putApiKey(anApiKey());
    plane.records.putOnPlan('b', 'k1');
  });

  test.each([
    ['all plans', '', ['a', 'b', 'c']],
    ['those of a key', '?keyId=k1', ['b']],
    ['none for a key that is not there', '?keyId=none', []],
  ])('lists %s', async (_, query, ids) => {
    expect(await plane.ids(`/usageplans${query}`)).toEqual(ids);
  });
});

test('GetUsagePlan refuses a plan that is not there', async () => {
  expect(await plane.call('GET', '/usageplans/none')).toMatchObject({ status: 404, error: 'NotFoundException' });
});

describe('UpdateUsagePlan', () => {
  const path = '/usageplans/plan';

  beforeEach(() => plane.records.putUsagePlan(aUsagePlan({ throttle, quota: { limit: 100 }, tags: { a: 'b' } })));

  test.each<[string[], object]>([
    [['replace /name acme inc.'], { name: 'acme inc.' }],
    [['replace /description for tests'], { description: 'for tests' }],
    [['replace /throttle/rateLimit 0.5'], { throttle: { rateLimit: 0.5, burstLimit: 5 } }],
    [['add /throttle/burstLimit 7'], { throttle: { rateLimit: 2.5, burstLimit: 7 } }],
    [['replace /quota/limit 7'], { quota: { limit: 7, offset: 0, period: 'DAY' } }],
    [['replace /quota/period DAY'], { quota: { limit: 100, offset: 0, period: 'DAY' } }],
    [['remove /apiStages api:v1'], { apiStages: [] }],
    [['remove /apiStages api:v1', 'add /apiStages api:v1'], { apiStages: [apiStage] }],
  ])('does %j', async (operations, changed) => {
    expect(await plane.patch(path, ...operations)).toMatchObject({ status: 200, body: changed });
    expect((await plane.call('GET', path)).body).toMatchObject({ id: 'plan', tags: { a: 'b' }, ...changed });
  });

  test.each(['throttle', 'quota'])('removes the %s', async (part) => {
    expect((await plane.patch(path, `remove /${part}`)).body).not.toHaveProperty(part);
    expect((await plane.call('GET', path)).body).not.toHaveProperty(part);
  });

  test.each([
    ['replace /id x', 400, /^This host does not know the patch operation replace \/id$/],
    ['replace /throttle/rateLimit fast', 400, /throttle.rateLimit/],
    ['replace /throttle/rateLimit', 400, /throttle.rateLimit/],
    ['replace /throttle/burstLimit 1.5', 400, /burstLimit/],
    ['replace /quota/period WEEK', 400, /quotas of a DAY only/],
    ['add /apiStages api:v1', 409, /already associated/],
    ['add /apiStages api:v2', 404, /^Invalid API Stage {api: api, stage: v2} specified for usageplan plan$/],
    ['remove /apiStages api:v2', 404, /^API Stage not found: api:v2$/],
  ])('refuses %s, and does none of the others', async (operation, status, message) => {
    const refused = await plane.patch(path, 'replace /name other', operation);

    expect(refused).toMatchObject({ status, message: expect.stringMatching(message) });
    expect((await plane.call('GET', path)).body).toMatchObject({ name: 'staging Free', throttle, quota });
  });

  test('refuses a stage on which a key of the plan is already', async () => {
    plane.records.putUsagePlan(aUsagePlan({ id: 'other', apiStages: [] }));
    plane.records.putApiKey(anApiKey());
    plane.records.putOnPlan('plan', 'k1');
    plane.records.putOnPlan('other', 'k1');

    expect(await plane.patch('/usageplans/other', 'add /apiStages api:v1')).toMatchObject({
      status: 409,
      error: 'ConflictException',
      message: expect.stringMatching(/same API stage: api:v1$/),
    });
  });

  test('refuses a plan that is not there', async () => {
    expect(await plane.patch('/usageplans/none', 'replace /name x')).toMatchObject({ status: 404 });
  });
});

describe('DeleteUsagePlan', () => {
  test('removes the plan, what its keys have used, and none of its keys', async () => {
    plane.records.putUsagePlan(aUsagePlan({ apiStages: [] }));
    plane.records.putApiKey(anApiKey());
    plane.records.putOnPlan('plan', 'k1');
    plane.records.countRequest('plan', 'k1', 20_000);

    expect(await plane.call('DELETE', '/usageplans/plan')).toMatchObject({ status: 202, body: undefined });
    expect(await plane.call('GET', '/usageplans/plan')).toMatchObject({ status: 404 });
    expect(await plane.ids('/apikeys')).toEqual(['k1']);
    expect(await plane.ids('/usageplans?keyId=k1')).toEqual([]);
    expect(plane.records.usage('plan', 'k1').on(20_000)).toBe(0);
  });

  test('refuses a plan that is of a stage', async () => {
    plane.records.putUsagePlan(aUsagePlan());

    expect(await plane.call('DELETE', '/usageplans/plan')).toMatchObject({
      status: 400,
      error: 'BadRequestException',
      message: 'Cannot delete Usage Plan plan because there are API Stages associated with it, including api:v1',
    });
    expect(await plane.ids('/usageplans')).toEqual(['plan']);
  });
});
