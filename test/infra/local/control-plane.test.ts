import { beforeEach, describe, expect, test } from '@jest/globals';
import { ControlPlaneCalls } from './control-plane-calls.ts';
import { anApiKey, apiStage, aUsagePlan } from '../../support/gateway-records.ts';

const VALUE = 'a-value-of-at-least-20-characters';
const throttle = { rateLimit: 2.5, burstLimit: 5 };

const arnOf = (resource: string) => `arn:aws:apigateway:us-east-1::${resource}`;
const tagsPath = (resource: string) => `/tags/${encodeURIComponent(arnOf(resource))}`;

/** Has the key k1 on the plan `plan`, and another plan of the stage. */
let plane: ControlPlaneCalls;

beforeEach(() => {
  plane = new ControlPlaneCalls();
  plane.records.putApiKey(anApiKey({ name: 'acme', value: VALUE, tags: { a: '1' } }));
  plane.records.putUsagePlan(aUsagePlan({ throttle, quota: { limit: 2 }, tags: { a: '1' } }));
  plane.records.putUsagePlan(aUsagePlan({ id: 'other' }));
  plane.records.putOnPlan('plan', 'k1');
});

/** What no call that is refused changes. */
const all = () => JSON.stringify([plane.records.apiKeys, plane.records.keysOnPlan('plan')]);
const patches = (...operations: string[]) => ({ patchOperations: ControlPlaneCalls.operations(operations) });
const key = (keyId: string) => ({ keyId, keyType: 'API_KEY' });

const errors: Readonly<Record<number, RegExp>> = {
  400: /^BadRequestException$/,
  404: /^(NotFound|UnknownOperation)Exception$/,
  409: /^ConflictException$/,
};

describe('a call that is refused', () => {
  const usage = 'GET /usageplans/plan/usage';
  const secondPlan = /^Usage Plan other cannot be added because API Key k1 .* same API stage: api:v1$/;

  test.each<[status: number, message: RegExp, call: string, ...body: object[]]>([
    [404, /not answer POST \/usageplans\. .* POST \/apikeys, .*DELETE /, 'POST /usageplans', { name: 'x' }],
    [404, /API Key identifier/, 'GET /apikeys/none'],
    [400, /^value: /, 'POST /apikeys', { value: 'x'.repeat(19) }],
    [400, /^customerId: /, 'POST /apikeys', { customerId: 'c1' }],
    [409, /^API Key already exists$/, 'POST /apikeys', { value: VALUE }],
    [400, /"replace" but received "add"/, 'PATCH /apikeys/k1', patches('replace /name x', 'add /name x')],
    [400, /but received "yes"/, 'PATCH /apikeys/k1', patches('replace /enabled yes')],
    [404, /Resource identifier/, `PUT ${tagsPath('/usageplans/plan')}`, { tags: { a: '2' } }],
    [404, /Usage Plan ID/, 'GET /usageplans/none/keys'],
    [409, /on Usage Plan plan already/, 'POST /usageplans/plan/keys', key('k1')],
    [409, secondPlan, 'POST /usageplans/other/keys', key('k1')],
    [404, /API Key identifier/, 'POST /usageplans/plan/keys', key('none')],
    [404, /Plan Key identifier/, 'DELETE /usageplans/other/keys/k1'],
    [400, /must be dates/, `${usage}?startDate=yesterday&endDate=2026-03-01`],
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
    [403, 'is not signed', { authorization: 'Bearer psk_x' }, 'Missing Authentication Token'],
    [400, 'has no JSON', { body: '{"name":' }, 'Invalid JSON'],
  ])('%d: it %s', async (status, _, init, message) => {
    const answer = await plane.call('POST', '/apikeys', undefined, init);

    expect(answer).toMatchObject({ status, message: expect.stringContaining(message) });
  });
});

describe('API keys', () => {
  test('are made as the call says, with a value of their own where it has none, and the change is reported', async () => {
    const body = { name: 'new', description: 'for tests', enabled: true, value: `${VALUE}-new`, tags: { a: 'b' } };

    expect(await plane.call('POST', '/apikeys', body)).toMatchObject({
      status: 201,
      body: { ...body, createdDate: expect.any(Number), id: expect.stringMatching(/^[0-9a-f]{10}$/) },
    });
    expect(plane.changes).toBe(1);
    expect((await plane.call('POST', '/apikeys')).body).toMatchObject({
      value: expect.stringMatching(/^[0-9a-f]{40}$/),
      enabled: false,
    });
  });

  test('show their value only where it is asked for; a call that reads is not reported', async () => {
    expect((await plane.call('GET', '/apikeys/k1')).body).not.toHaveProperty('value');
    expect((await plane.call('GET', '/apikeys/k1?includeValue=true')).body).toHaveProperty('value', VALUE);
    expect(plane.changes).toBe(0);
  });

  test('are listed in pages, all or those whose name begins so', async () => {
    plane.records.putApiKey(anApiKey({ id: 'k2', name: 'The acme' }));
    plane.records.putApiKey(anApiKey({ id: 'k3' }));

    expect(await plane.pages('/apikeys?limit=2')).toEqual([['k1', 'k2'], ['k3']]);
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

  test('have tags that are read, added, replaced and removed', async () => {
    const path = tagsPath('/apikeys/k1');

    expect(await plane.call('PUT', path, { tags: { a: '2', b: '', c: '3' } })).toMatchObject({ status: 204 });
    expect((await plane.call('GET', '/apikeys/k1')).body).toMatchObject({ tags: { a: '2', b: '', c: '3' } });
    expect(await plane.call('DELETE', `${path}?tagKeys=a&tagKeys=c&tagKeys=none`)).toMatchObject({ status: 204 });
    expect((await plane.call('GET', '/apikeys/k1')).body).toMatchObject({ tags: { b: '' } });
  });
});

describe('usage plans', () => {
  const keys = '/usageplans/plan/keys';

  test('are listed, all or those of a key, as the template has them', async () => {
    const body = { throttle, quota: { limit: 2, offset: 0, period: 'DAY' }, apiStages: [apiStage], tags: { a: '1' } };

    expect(await plane.ids('/usageplans')).toEqual(['other', 'plan']);
    expect(await plane.ids('/usageplans?keyId=k1')).toEqual(['plan']);
    expect((await plane.call('GET', '/usageplans?keyId=k1')).body).toMatchObject({ item: [body] });
  });

  test('have keys that are taken off them, and put on them', async () => {
    const k1 = { id: 'k1', type: 'API_KEY', value: VALUE, name: 'acme' };

    expect(await plane.call('DELETE', `${keys}/k1`)).toMatchObject({ status: 202, body: undefined });
    expect(await plane.ids(keys)).toEqual([]);
    expect(await plane.call('POST', keys, key('k1'))).toMatchObject({ status: 201, body: k1 });
    expect((await plane.call('GET', keys)).body).toEqual({ item: [k1] });
  });

  test('know what their keys have used on each day, and had left', async () => {
    plane.records.putApiKey(anApiKey({ id: 'k2' }));
    plane.records.putOnPlan('plan', 'k2');
    for (const date of ['2026-11-20', '2026-11-22', '2026-11-22', '2026-11-22'])
      plane.records.countRequest(date, 'plan', 'k1');
    const days = { startDate: '2026-11-20', endDate: '2026-11-22' };
    const path = `/usageplans/plan/usage?${new URLSearchParams(days).toString()}`;
    const unused = [0, 2];
    const k1 = [[1, 1], unused, [3, 0]];
    const k2 = [unused, unused, unused];
    const body = { usagePlanId: 'plan', ...days, values: { k1, k2 } };

    expect(await plane.call('GET', path)).toMatchObject({ status: 200, body });
    expect((await plane.call('GET', `${path}&keyId=k2`)).body).toHaveProperty('values', { k2 });
    expect((await plane.call('GET', `${path}&limit=1`)).body).toHaveProperty('values', { k1 });
  });
});
