import { beforeEach, describe, expect, test } from '@jest/globals';
import { ControlPlaneCalls } from '../../../support/control-plane-calls.ts';
import { anApiKey, aUsagePlan } from '../../../support/gateway-records.ts';

const VALUE = 'a-value-of-at-least-20-characters';

let plane: ControlPlaneCalls;

beforeEach(() => {
  plane = new ControlPlaneCalls();
});

describe('a call that is refused', () => {
  test('403: one that is not signed', async () => {
    expect(await plane.call('GET', '/apikeys', undefined, { authorization: 'Bearer psk_x' })).toMatchObject({
      status: 403,
      error: 'MissingAuthenticationTokenException',
    });
  });

  test.each([
    ['GET', '/restapis'],
    ['GET', '/usageplans/plan/nothing'],
  ])('404: the operation %s %s, naming those that there are', async (method, path) => {
    expect(await plane.call(method, path)).toMatchObject({
      status: 404,
      error: 'UnknownOperationException',
      message: expect.stringMatching(/CreateApiKey, .*UntagResource$/),
    });
  });

  test.each([
    ['a body that is no JSON', '/apikeys', { body: Buffer.from('{"name":') }, /must be a JSON object/],
    ['a body that is too long', '/apikeys', { bodyTooLarge: true }, /longer than 65536 bytes/],
    ['a query parameter that is not known', '/apikeys?customer=1', {}, /not know the query parameter customer/],
  ])('400: %s', async (_, path, differences, message) => {
    expect(await plane.call(path.includes('?') ? 'GET' : 'POST', path, undefined, differences)).toMatchObject({
      status: 400,
      error: 'BadRequestException',
      message: expect.stringMatching(message),
    });
  });
});

test.each([
  ['told of: one that changes something', 1, 'POST', '/apikeys', {}],
  ['not told of: one that only reads', 0, 'GET', '/apikeys', undefined],
  ['not told of: one that is refused', 0, 'DELETE', '/apikeys/none', undefined],
])('A call is %s', async (_, changes, method, path, body) => {
  await plane.call(method, path, body);

  expect(plane.changes).toBe(changes);
});

describe('CreateApiKey', () => {
  test('answers with the key and its value', async () => {
    const body = { name: 'acme', description: 'for tests', enabled: true, value: VALUE, tags: { a: 'b' } };

    expect(await plane.call('POST', '/apikeys', body)).toMatchObject({
      status: 201,
      body: {
        ...body,
        id: expect.stringMatching(/^[0-9a-z]{10}$/),
        createdDate: expect.any(Number),
        lastUpdatedDate: expect.any(Number),
      },
    });
  });

  test('gives what is left out: a value, disabled, no tags', async () => {
    const { body } = await plane.call('POST', '/apikeys');

    expect(body).toMatchObject({ value: expect.stringMatching(/^[0-9A-Za-z]{40}$/), enabled: false });
    expect(body).not.toHaveProperty('tags');
  });

  test.each([
    ['a value of 19 characters', { value: 'x'.repeat(19) }, /value/],
    ['what the host does not apply', { customerId: 'c1' }, /does not know the member customerId/],
    ['enabled as a text', { enabled: 'true' }, /enabled/],
  ])('refuses %s', async (_, body, message) => {
    expect(await plane.call('POST', '/apikeys', body)).toMatchObject({
      status: 400,
      message: expect.stringMatching(message),
    });
    expect(await plane.ids('/apikeys')).toEqual([]);
  });

  test('refuses a value that another key has', async () => {
    await plane.create('/apikeys', { value: VALUE });

    expect(await plane.call('POST', '/apikeys', { value: VALUE })).toMatchObject({
      status: 409,
      error: 'ConflictException',
      message: 'API Key already exists',
    });
  });
});

test('GetApiKey answers with the value only where it is asked for', async () => {
  const id = await plane.create('/apikeys', { name: 'acme', value: VALUE });

  expect((await plane.call('GET', `/apikeys/${id}`)).body).not.toHaveProperty('value');
  expect((await plane.call('GET', `/apikeys/${id}?includeValue=true`)).body).toHaveProperty('value', VALUE);
});

test('GetApiKeys lists all keys, or those whose name begins so', async () => {
  plane.records.putApiKey(anApiKey({ id: 'a', name: 'acme one' }));
  plane.records.putApiKey(anApiKey({ id: 'b', name: 'The acme' }));
  plane.records.putApiKey(anApiKey({ id: 'c' }));

  expect(await plane.ids('/apikeys')).toEqual(['a', 'b', 'c']);
  expect(await plane.ids('/apikeys?name=acme')).toEqual(['a']);
});

describe('UpdateApiKey', () => {
  beforeEach(() => plane.records.putApiKey(anApiKey({ name: 'acme' })));

  test.each([
    ['/description', 'for tests', { description: 'for tests' }],
    ['/enabled', 'false', { enabled: false }],
  ])('replaces %s', async (path, value, changed) => {
    expect(await plane.patch('/apikeys/k1', `replace ${path} ${value}`)).toMatchObject({ status: 200, body: changed });
    expect((await plane.call('GET', '/apikeys/k1')).body).toMatchObject({ id: 'k1', name: 'acme', ...changed });
  });

  test.each([
    ['an operation that is none', 'add /name x', 'This host does not know the patch operation add /name'],
    ['a flag that is none', 'replace /enabled yes', "/enabled must be true or false, not 'yes'"],
  ])('refuses %s, and does none of the others', async (_, operation, message) => {
    const refused = await plane.patch('/apikeys/k1', 'replace /description new', operation);

    expect(refused).toMatchObject({ status: 400, error: 'BadRequestException', message });
    expect((await plane.call('GET', '/apikeys/k1')).body).not.toHaveProperty('description');
  });
});

test('DeleteApiKey removes the key, from its plans too', async () => {
  plane.records.putApiKey(anApiKey());
  plane.records.putUsagePlan(aUsagePlan());
  plane.records.putOnPlan('plan', 'k1');

  expect(await plane.call('DELETE', '/apikeys/k1')).toMatchObject({ status: 202, body: undefined });
  expect(await plane.ids('/usageplans/plan/keys')).toEqual([]);
});

test.each(['GET', 'PATCH', 'DELETE'])('%s of a key that is not there is a 404', async (method) => {
  const body = { patchOperations: [] };

  expect(await plane.call(method, '/apikeys/none', body)).toMatchObject({ status: 404, error: 'NotFoundException' });
});

const arnOf = (resource: string) => `arn:aws:apigateway:us-east-1::${resource}`;
const tagsPath = (arn: string) => `/tags/${encodeURIComponent(arn)}`;

describe.each([
  ['an API key', '/apikeys/k1'],
  ['a usage plan', '/usageplans/plan'],
])('the tags of %s', (_, resource) => {
  const path = tagsPath(arnOf(resource));

  beforeEach(() => {
    plane.records.putApiKey(anApiKey({ tags: { a: '1' } }));
    plane.records.putUsagePlan(aUsagePlan({ tags: { a: '1' } }));
  });

  test('are read, added, replaced and removed', async () => {
    expect(await plane.call('GET', path)).toMatchObject({ status: 200, body: { tags: { a: '1' } } });
    expect(await plane.call('PUT', path, { tags: { a: '2', b: '', c: '3' } })).toMatchObject({ status: 204 });
    expect((await plane.call('GET', resource)).body).toMatchObject({ tags: { a: '2', b: '', c: '3' } });
    expect(await plane.call('DELETE', `${path}?tagKeys=a&tagKeys=c&tagKeys=none`)).toMatchObject({ status: 204 });
    expect((await plane.call('GET', resource)).body).toMatchObject({ tags: { b: '' } });
  });

  test('are found by an ARN whose slashes are not encoded', async () => {
    expect(await plane.call('GET', `/tags/${arnOf(resource)}`)).toMatchObject({ status: 200 });
  });
});

test.each([
  ['a key that is not there', arnOf('/apikeys/none')],
  ['a key under the name of a plan', arnOf('/usageplans/k1')],
  ['another region', 'arn:aws:apigateway:eu-west-1::/apikeys/k1'],
])('404: the tags of %s', async (_, arn) => {
  plane.records.putApiKey(anApiKey());

  expect(await plane.call('GET', tagsPath(arn))).toMatchObject({ status: 404, error: 'NotFoundException' });
});
