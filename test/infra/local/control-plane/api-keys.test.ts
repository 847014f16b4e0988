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

  test('gives its dates in Unix seconds', async () => {
    const before = Math.floor(Date.now() / 1_000);
    const { body } = await plane.call('POST', '/apikeys', {});

    expect(body).toMatchObject({ createdDate: expect.any(Number) });
    expect(Object(body).createdDate - before).toBeGreaterThanOrEqual(0);
    expect(Object(body).createdDate - before).toBeLessThan(60);
  });

  test.each([
    ['a value of 20 characters', { value: 'x'.repeat(20) }],
    ['a value of 128 characters', { value: 'x'.repeat(128) }],
    ['a name of 1024 characters', { name: 'x'.repeat(1_024) }],
    ['50 tags', { tags: Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`tag-${index}`, ''])) }],
    ['a tag that is named like a property of every object', { tags: { constructor: 'a' } }],
  ])('takes %s', async (_, body) => {
    expect(await plane.call('POST', '/apikeys', body)).toMatchObject({ status: 201 });
  });

  test.each([
    ['a value of 19 characters', { value: 'x'.repeat(19) }, /value/],
    ['a value of 129 characters', { value: 'x'.repeat(129) }, /value/],
    ['a name of 1025 characters', { name: 'x'.repeat(1_025) }, /name/],
    ['what the host does not apply', { customerId: 'c1' }, /does not know the member customerId/],
    ['enabled as a text', { enabled: 'true' }, /enabled/],
    ['51 tags', { tags: Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`tag-${i}`, ''])) }, /at most 50/],
    ['a tag without a name', { tags: { '': 'a' } }, /tag key/],
    ['a tag with a name of 129 characters', { tags: { ['x'.repeat(129)]: 'a' } }, /tag key/],
    ['a tag with a value of 257 characters', { tags: { a: 'x'.repeat(257) } }, /tag a/],
    ['a tag that is AWS’s own', { tags: { 'aws:a': 'b' } }, /aws:/],
    ['a tag that is a number', { tags: { a: 5 } }, /map of strings/],
    ['a list of tags', { tags: ['a'] }, /map of strings/],
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

  test('takes a value again whose key is gone', async () => {
    await plane.call('DELETE', `/apikeys/${await plane.create('/apikeys', { value: VALUE })}`);

    expect(await plane.call('POST', '/apikeys', { value: VALUE })).toMatchObject({ status: 201 });
  });

  test('refuses more than 10,000 keys', async () => {
    for (let count = 0; count < 10_000; count++) plane.records.putApiKey(anApiKey({ id: `k${count}` }));

    expect(await plane.call('POST', '/apikeys', {})).toMatchObject({ status: 429, error: 'LimitExceededException' });
  });
});

describe('GetApiKey', () => {
  test.each([
    ['without its value', '', undefined],
    ['with its value where it is asked for', '?includeValue=true', VALUE],
    ['without its value where that is said', '?includeValue=false', undefined],
  ])('answers with the key %s', async (_, query, value) => {
    const id = await plane.create('/apikeys', { name: 'acme', value: VALUE, tags: { a: 'b' } });
    const { status, body } = await plane.call('GET', `/apikeys/${id}${query}`);

    expect({ status, body }).toMatchObject({
      status: 200,
      body: { id, name: 'acme', stageKeys: [], tags: { a: 'b' } },
    });
    expect(Object(body).value).toBe(value);
  });

  test('refuses a key that is not there, and a flag that is none', async () => {
    plane.records.putApiKey(anApiKey());

    expect(await plane.call('GET', '/apikeys/none')).toMatchObject({ status: 404, error: 'NotFoundException' });
    expect(await plane.call('GET', '/apikeys/k1?includeValue=yes')).toMatchObject({ status: 400 });
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

  test.each([
    ['', undefined],
    ['?includeValues=true', 'the-value-of-key-a'],
  ])('gives values only where they are asked for: %s', async (query, value) => {
    const { body } = await plane.call('GET', `/apikeys${query}`);

    expect(Object(body).item[0].value).toBe(value);
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

  test('says when it was, and not the value', async () => {
    const { body } = await plane.patch('/apikeys/k1', 'replace /name other');

    expect(Object(body).lastUpdatedDate).toBeGreaterThanOrEqual(Math.floor(Date.now() / 1_000) - 60);
    expect(Object(body).createdDate).toBe(Date.UTC(2026, 10, 21) / 1_000);
    expect(body).not.toHaveProperty('value');
  });

  test('without operations changes nothing', async () => {
    expect(await plane.call('PATCH', '/apikeys/k1', {})).toMatchObject({ status: 200, body: { name: 'acme' } });
  });

  const known = '[/description, /enabled, /name]';
  test.each([
    [
      'a path that is none',
      'replace /value x',
      `Invalid patch path '/value' specified for op 'replace'. Must be one of: ${known}`,
    ],
    [
      'an operation that the path does not take',
      'add /name x',
      `Invalid patch path '/name' specified for op 'add'. Must be one of: []`,
    ],
    [
      'an operation that is none',
      'test /name x',
      `Invalid patch path '/name' specified for op 'test'. Must be one of: []`,
    ],
    ['labels and stages', 'add /stages x', `Invalid patch path '/stages' specified for op 'add'. Must be one of: []`],
    ['a flag that is none', 'replace /enabled yes', "/enabled must be true or false, not 'yes'"],
    ['an operation without a value', 'replace /name', 'Patch operation replace /name must have a value'],
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
