import { beforeEach, describe, expect, test } from '@jest/globals';
import { ControlPlaneCalls } from '../../../support/control-plane-calls.ts';
import { anApiKey, aUsagePlan } from '../../../support/gateway-records.ts';

let plane: ControlPlaneCalls;

beforeEach(() => {
  plane = new ControlPlaneCalls();
});

const VALUE = 'a-value-of-at-least-20-characters';

describe('CreateApiKey', () => {
  test('answers with the key and its value', async () => {
    const body = {
      name: 'acme',
      description: 'for tests',
      enabled: true,
      value: VALUE,
      tags: { a: 'b' },
    };

    expect(await plane.call('POST', '/apikeys', body)).toMatchObject({
      status: 201,
      body: {
        ...body,
        id: expect.stringMatching(/^[0-9a-z]{10}$/),
        stageKeys: [],
        createdDate: expect.any(Number),
        lastUpdatedDate: expect.any(Number),
      },
    });
  });

  test('gives what is left out: a value, disabled, no tags', async () => {
    const { body } = await plane.call('POST', '/apikeys');

    expect(body).toMatchObject({ value: expect.stringMatching(/^[0-9A-Za-z]{40}$/), enabled: false });
    expect(body).not.toHaveProperty('tags');
    expect(body).not.toHaveProperty('name');
  });

  test.each([
    ['a value of 19 characters', { value: 'x'.repeat(19) }, /value/],
    ['a value of 129 characters', { value: 'x'.repeat(129) }, /value/],
    ['what the host does not apply', { customerId: 'c1' }, /does not know the member customerId/],
    ['enabled as a text', { enabled: 'true' }, /enabled/],
    ['a tag that is a number', { tags: { a: 5 } }, /map of strings/],
  ])('refuses %s', async (_, body, message) => {
    expect(await plane.call('POST', '/apikeys', body)).toMatchObject({
      status: 400,
      error: 'BadRequestException',
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

describe('GetApiKey', () => {
  test.each([
    ['without its value', '', undefined],
    ['with its value where it is asked for', '?includeValue=true', VALUE],
  ])('answers with the key %s', async (_, query, value) => {
    const id = await plane.create('/apikeys', { name: 'acme', value: VALUE, tags: { a: 'b' } });
    const { status, body } = await plane.call('GET', `/apikeys/${id}${query}`);

    expect({ status, body }).toMatchObject({
      status: 200,
      body: { id, name: 'acme', stageKeys: [], tags: { a: 'b' } },
    });
    expect(Object(body).value).toBe(value);
  });

  test('refuses a key that is not there', async () => {
    expect(await plane.call('GET', '/apikeys/none')).toMatchObject({ status: 404, error: 'NotFoundException' });
  });
});

describe('GetApiKeys', () => {
  beforeEach(() => {
    plane.records.putApiKey(anApiKey({ id: 'a', name: 'acme one' }));
    plane.records.putApiKey(anApiKey({ id: 'b', name: 'acme two' }));
    plane.records.putApiKey(anApiKey({ id: 'c', name: 'The acme' }));
    plane.records.putApiKey(anApiKey({ id: 'd' }));
  });

  test.each([
    ['all keys', '', ['a', 'b', 'c', 'd']],
    ['those whose name begins so', '?name=acme', ['a', 'b']],
    ['none', '?name=nobody', []],
  ])('lists %s', async (_, query, ids) => {
    expect(await plane.ids(`/apikeys${query}`)).toEqual(ids);
  });
});

describe('UpdateApiKey', () => {
  beforeEach(() => plane.records.putApiKey(anApiKey({ name: 'acme' })));

  test.each([
    ['/name', 'other', { name: 'other' }],
    ['/description', 'for tests', { description: 'for tests' }],
    ['/enabled', 'false', { enabled: false }],
  ])('replaces %s', async (path, value, changed) => {
    expect(await plane.patch('/apikeys/k1', `replace ${path} ${value}`)).toMatchObject({ status: 200, body: changed });
    expect((await plane.call('GET', '/apikeys/k1')).body).toMatchObject({ id: 'k1', name: 'acme', ...changed });
  });

  test.each([
    ['a path that is none', 'replace /value x', 'This host does not know the patch operation replace /value'],
    ['an operation that is none', 'add /name x', 'This host does not know the patch operation add /name'],
    ['a flag that is none', 'replace /enabled yes', "/enabled must be true or false, not 'yes'"],
  ])('refuses %s, and does none of the others', async (_, operation, message) => {
    const refused = await plane.patch('/apikeys/k1', 'replace /description new', operation);

    expect(refused).toMatchObject({ status: 400, error: 'BadRequestException', message });
    expect((await plane.call('GET', '/apikeys/k1')).body).not.toHaveProperty('description');
  });

  test('refuses a key that is not there', async () => {
    expect(await plane.patch('/apikeys/none', 'replace /name x')).toMatchObject({ status: 404 });
  });
});

describe('DeleteApiKey', () => {
  test('removes the key, from its plans too', async () => {
    plane.records.putApiKey(anApiKey());
    plane.records.putUsagePlan(aUsagePlan());
    plane.records.putOnPlan('plan', 'k1');

    expect(await plane.call('DELETE', '/apikeys/k1')).toMatchObject({ status: 202, body: undefined });
    expect(await plane.call('GET', '/apikeys/k1')).toMatchObject({ status: 404 });
    expect(await plane.ids('/usageplans/plan/keys')).toEqual([]);
  });

  test('refuses a key that is not there', async () => {
    expect(await plane.call('DELETE', '/apikeys/none')).toMatchObject({ status: 404, error: 'NotFoundException' });
  });
});
