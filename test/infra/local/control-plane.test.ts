import { beforeEach, describe, expect, test } from '@jest/globals';
import { ControlPlaneCalls } from '../../support/control-plane-calls.ts';
import { anApiKey, apiStage, aUsagePlan } from '../../support/gateway-records.ts';

const VALUE = 'a-value-of-at-least-20-characters';
const throttle = { rateLimit: 2.5, burstLimit: 5 };
const quota = { limit: 100, offset: 0, period: 'DAY' };

const arnOf = (resource: string) => `arn:aws:apigateway:us-east-1::${resource}`;
const tagsPath = (resource: string) => `/tags/${encodeURIComponent(arnOf(resource))}`;

/** Has the key k1 on the plan `plan`, and a plan without a stage. */
let plane: ControlPlaneCalls;

beforeEach(() => {
  plane = new ControlPlaneCalls();
  plane.records.putApiKey(anApiKey({ name: 'acme', value: VALUE, tags: { a: '1' } }));
  plane.records.putUsagePlan(aUsagePlan({ throttle, quota: { limit: 100 }, tags: { a: '1' } }));
  plane.records.putUsagePlan(aUsagePlan({ id: 'stageless', apiStages: [] }));
  plane.records.putOnPlan('plan', 'k1');
});

/** What no call that is refused changes. */
const all = () => JSON.stringify([plane.records.apiKeys, plane.records.usagePlans, plane.records.keysOnPlan('plan')]);
const patches = (...operations: string[]) => ({ patchOperations: ControlPlaneCalls.operations(operations) });
const key = (keyId: string) => ({ keyId, keyType: 'API_KEY' });
const newPlan = (settings: object) => ({ name: 'acme', ...settings });

const errors: Readonly<Record<number, RegExp>> = {
  400: /^BadRequestException$/,
  404: /^(NotFound|UnknownOperation)Exception$/,
  409: /^ConflictException$/,
};

describe('a call that is refused', () => {
  const usage = 'GET /usageplans/plan/usage';

  test.each<[status: number, message: RegExp, call: string, ...body: object[]]>([
    [404, /not answer GET \/restapis\. .* CreateApiKey, .*UntagResource$/, 'GET /restapis'],
    [400, /not know the query parameter customer/, 'GET /apikeys?customer=1'],
    [400, /^limit must be/, 'GET /apikeys?limit=0'],
    [404, /API Key identifier/, 'GET /apikeys/none'],
    [400, /^value: /, 'POST /apikeys', { value: 'x'.repeat(19) }],
    [400, /not know the member customerId/, 'POST /apikeys', { customerId: 'c1' }],
    [409, /^API Key already exists$/, 'POST /apikeys', { value: VALUE }],
    [400, /not know the patch operation add \/name$/, 'PATCH /apikeys/k1', patches('replace /name x', 'add /name x')],
    [400, /^\/enabled must be true or false, not 'yes'$/, 'PATCH /apikeys/k1', patches('replace /enabled yes')],
    [404, /Resource identifier/, `GET ${tagsPath('/usageplans/k1')}`],
    [404, /Resource identifier/, `GET ${tagsPath('/apikeys/k1').replace('us-east', 'eu-west')}`],
    [400, /^name: /, 'POST /usageplans', newPlan({ name: '' })],
    [400, /burstLimit/, 'POST /usageplans', newPlan({ throttle: { rateLimit: 1 } })],
    [400, /quotas of a DAY only$/, 'POST /usageplans', newPlan({ quota: { limit: 1, period: 'WEEK' } })],
    [404, /Stage {api: api, stage: v2}/, 'POST /usageplans', newPlan({ apiStages: [{ ...apiStage, stage: 'v2' }] })],
    [409, /already associated/, 'POST /usageplans', newPlan({ apiStages: [apiStage, apiStage] })],
    [400, /operation replace \/id$/, 'PATCH /usageplans/plan', patches('replace /name x', 'replace /id x')],
    [400, /rateLimit/, 'PATCH /usageplans/plan', patches('replace /throttle/rateLimit')],
    [404, /not found: api:v2$/, 'PATCH /usageplans/plan', patches('remove /apiStages api:v2')],
    [400, /Stages associated .* api:v1$/, 'DELETE /usageplans/plan'],
    [409, /on Usage Plan plan already/, 'POST /usageplans/plan/keys', key('k1')],
    [404, /Usage Plan ID/, 'POST /usageplans/none/keys', key('k1')],
    [404, /API Key identifier/, 'POST /usageplans/plan/keys', key('none')],
    [400, /^keyType: /, 'POST /usageplans/plan/keys', { keyId: 'k1' }],
    [404, /Plan Key identifier/, 'DELETE /usageplans/stageless/keys/k1'],
    [400, /^startDate must be a date/, `${usage}?startDate=2026-02-30&endDate=2026-03-01`],
    [400, /must not be before/, `${usage}?startDate=2026-11-21&endDate=2026-11-20`],
    [400, /at most 90 days/, `${usage}?startDate=2026-01-01&endDate=2026-04-01`],
  ])('%d %s: %s', async (status, message, call, ...[body]) => {
    const before = all();
    const [method = '', path = ''] = call.split(' ');

    expect(await plane.call(method, path, body)).toMatchObject({
      status,
      error: expect.stringMatching(errors[status] ?? ''),
      message: expect.stringMatching(message),
    });
    expect(all()).toBe(before);
    expect(plane.changes).toBe(0);
  });

  test.each([
    [403, 'is not signed', { headers: { Authorization: 'Bearer psk_x' } }, 'Missing Authentication Token'],
    [400, 'has no JSON', { body: '{"name":' }, 'must be a JSON object'],
    [400, 'is too long', { body: ' '.repeat(65_537) }, 'longer than 65536 bytes'],
  ])('%d: it %s', async (status, _, init, message) => {
    const answer = await plane.call('POST', '/apikeys', undefined, init);

    expect(answer).toMatchObject({ status, message: expect.stringContaining(message) });
  });

  test('409: a key on two plans of a stage, whichever comes second', async () => {
    const message = /^Usage Plan \w+ cannot be added because API Key k1 .* same API stage: api:v1$/;
    plane.records.putUsagePlan(aUsagePlan({ id: 'other' }));
    const byKey = await plane.call('POST', '/usageplans/other/keys', key('k1'));
    plane.records.putOnPlan('stageless', 'k1');
    const byStage = await plane.patch('/usageplans/stageless', 'add /apiStages api:v1');

    for (const refused of [byKey, byStage]) {
      expect(refused).toMatchObject({ status: 409, message: expect.stringMatching(message) });
    }
  });
});

describe('API keys', () => {
  test('are made as the call says, with a value of their own where it has none, and the change is reported', async () => {
    const body = { name: 'new', description: 'for tests', enabled: true, value: `${VALUE}-new`, tags: { a: 'b' } };
    const dates = { createdDate: expect.any(Number), lastUpdatedDate: expect.any(Number) };

    expect(await plane.call('POST', '/apikeys', body)).toMatchObject({
      status: 201,
      body: { ...body, ...dates, id: expect.stringMatching(/^[0-9a-z]{10}$/) },
    });
    expect(plane.changes).toBe(1);
    expect((await plane.call('POST', '/apikeys')).body).toMatchObject({
      value: expect.stringMatching(/^[0-9A-Za-z]{40}$/),
      enabled: false,
    });
  });

  test('show their value only where it is asked for; a call that reads is not reported', async () => {
    expect((await plane.call('GET', '/apikeys/k1')).body).not.toHaveProperty('value');
    expect((await plane.call('GET', '/apikeys/k1?includeValue=true')).body).toHaveProperty('value', VALUE);
    expect(plane.changes).toBe(0);
  });

  test('are listed, all or those whose name begins so', async () => {
    plane.records.putApiKey(anApiKey({ id: 'k2', name: 'The acme' }));
    plane.records.putApiKey(anApiKey({ id: 'k3' }));

    expect(await plane.ids('/apikeys')).toEqual(['k1', 'k2', 'k3']);
    expect(await plane.ids('/apikeys?name=acme')).toEqual(['k1']);
  });

  test('are changed', async () => {
    const body = { id: 'k1', name: 'acme', description: 'for tests', enabled: false };
    const answer = await plane.patch('/apikeys/k1', 'replace /description for tests', 'replace /enabled false');

    expect(answer).toMatchObject({ status: 200, body });
    expect((await plane.call('GET', '/apikeys/k1')).body).toMatchObject(body);
    expect(plane.changes).toBe(1);
  });

  test('are deleted, from their plans too', async () => {
    expect(await plane.call('DELETE', '/apikeys/k1')).toMatchObject({ status: 202, body: undefined });
    expect(await plane.ids('/usageplans/plan/keys')).toEqual([]);
  });
});

test.each(['/apikeys/k1', '/usageplans/plan'])('Tags of %s are read, added, replaced and removed', async (resource) => {
  const path = tagsPath(resource);

  expect(await plane.call('GET', `/tags/${arnOf(resource)}`)).toMatchObject({
    status: 200,
    body: { tags: { a: '1' } },
  });
  expect(await plane.call('PUT', path, { tags: { a: '2', b: '', c: '3' } })).toMatchObject({ status: 204 });
  expect((await plane.call('GET', resource)).body).toMatchObject({ tags: { a: '2', b: '', c: '3' } });
  expect(await plane.call('DELETE', `${path}?tagKeys=a&tagKeys=c&tagKeys=none`)).toMatchObject({ status: 204 });
  expect((await plane.call('GET', path)).body).toEqual({ tags: { b: '' } });
});

describe('usage plans', () => {
  test('are made as the call says', async () => {
    const body = { name: 'new', description: 'for tests', apiStages: [apiStage], throttle, quota, tags: { a: 'b' } };
    const answer = await plane.call('POST', '/usageplans', body);

    expect(answer).toMatchObject({ status: 201, body: { ...body, id: expect.stringMatching(/^[0-9a-z]{10}$/) } });
  });

  test('are listed, all or those of a key', async () => {
    expect(await plane.ids('/usageplans')).toEqual(['plan', 'stageless']);
    expect(await plane.ids('/usageplans?keyId=k1')).toEqual(['plan']);
  });

  test.each<[operations: string[], changed: object]>([
    [
      ['replace /name acme inc.', 'replace /throttle/rateLimit 0.5'],
      { name: 'acme inc.', throttle: { rateLimit: 0.5, burstLimit: 5 } },
    ],
    [
      ['add /throttle/burstLimit 7', 'replace /quota/limit 7'],
      { throttle: { rateLimit: 2.5, burstLimit: 7 }, quota: { ...quota, limit: 7 } },
    ],
    [['remove /apiStages api:v1', 'add /apiStages api:v1'], { apiStages: [apiStage] }],
  ])('are changed by %j', async (operations, changed) => {
    expect(await plane.patch('/usageplans/plan', ...operations)).toMatchObject({ status: 200, body: changed });
    expect((await plane.call('GET', '/usageplans/plan')).body).toMatchObject({ tags: { a: '1' }, ...changed });
  });

  test('lose their throttle and their quota', async () => {
    const { body } = await plane.patch('/usageplans/plan', 'remove /throttle', 'remove /quota');

    expect(body).not.toHaveProperty('throttle');
    expect(body).not.toHaveProperty('quota');
  });

  test('are deleted with what was used on them, but not with their keys', async () => {
    plane.records.putOnPlan('stageless', 'k1');
    plane.records.countRequest('2026-11-20', 'stageless', 'k1');

    expect(await plane.call('DELETE', '/usageplans/stageless')).toMatchObject({ status: 202, body: undefined });
    expect(await plane.ids('/usageplans')).toEqual(['plan']);
    expect(await plane.ids('/apikeys')).toEqual(['k1']);
    expect(plane.records.requestsOn('2026-11-20', 'stageless', 'k1')).toBe(0);
  });
});

describe('the keys of a usage plan', () => {
  const keys = '/usageplans/plan/keys';

  test('are taken off it, and put on it', async () => {
    const k1 = { id: 'k1', type: 'API_KEY', value: VALUE, name: 'acme' };

    expect(await plane.call('DELETE', `${keys}/k1`)).toMatchObject({ status: 202, body: undefined });
    expect(await plane.ids(keys)).toEqual([]);
    expect(await plane.call('POST', keys, key('k1'))).toMatchObject({ status: 201, body: k1 });
    expect(await plane.call('GET', `${keys}/k1`)).toMatchObject({ status: 200, body: k1 });
  });

  test('are listed in pages, all of them or those whose name begins so', async () => {
    for (const id of ['k2', 'k3']) {
      plane.records.putApiKey(anApiKey({ id, name: `acorn ${id}` }));
      plane.records.putOnPlan('plan', id);
    }

    expect(await plane.pages(`${keys}?limit=2`)).toEqual([['k1', 'k2'], ['k3']]);
    expect(await plane.ids(`${keys}?name=acorn`)).toEqual(['k2', 'k3']);
  });

  test('have used so much on each day, and had so much left', async () => {
    plane.records.putUsagePlan(aUsagePlan({ quota: { limit: 2 } }));
    plane.records.putApiKey(anApiKey({ id: 'k2' }));
    plane.records.putOnPlan('plan', 'k2');
    for (const date of ['2026-11-20', '2026-11-22', '2026-11-22', '2026-11-22'])
      plane.records.countRequest(date, 'plan', 'k1');
    const days = { startDate: '2026-11-20', endDate: '2026-11-22' };
    const path = `/usageplans/plan/usage?${new URLSearchParams(days).toString()}`;
    const unused = [0, 2];
    const k1 = [[1, 1], unused, [3, 0]];
    const k2 = [unused, unused, unused];
    const first = (await plane.call('GET', `${path}&limit=1`)).body;
    const second = (await plane.call('GET', `${path}&limit=1&position=${Object(first).position}`)).body;

    expect(await plane.call('GET', path)).toEqual(
      expect.objectContaining({ status: 200, body: { usagePlanId: 'plan', ...days, values: { k1, k2 } } }),
    );
    expect((await plane.call('GET', `${path}&keyId=k2`)).body).toHaveProperty('values', { k2 });
    expect([first, second]).toMatchObject([{ values: { k1 } }, { values: { k2 } }]);
  });
});
