import { beforeEach, describe, expect, test } from '@jest/globals';
import { ControlPlaneCalls } from '../../../support/control-plane-calls.ts';
import { anApiKey, aUsagePlan } from '../../../support/gateway-records.ts';

const arnOf = (resource: string) => `arn:aws:apigateway:us-east-1::${resource}`;
const encoded = (resource: string) => `/tags/${encodeURIComponent(arnOf(resource))}`;

let plane: ControlPlaneCalls;

beforeEach(() => {
  plane = new ControlPlaneCalls();
  plane.records.putApiKey(anApiKey({ tags: { a: '1' } }));
  plane.records.putUsagePlan(aUsagePlan({ tags: { a: '1' } }));
});

describe.each([
  ['an API key', '/apikeys/k1'],
  ['a usage plan', '/usageplans/plan'],
])('the tags of %s', (_, resource) => {
  const path = encoded(resource);
  const tags = async () => Object((await plane.call('GET', path)).body).tags;

  test('are what it was made with', async () => {
    expect(await plane.call('GET', path)).toMatchObject({ status: 200, body: { tags: { a: '1' } } });
  });

  test('are found by an ARN whose slashes are not encoded', async () => {
    expect(await plane.call('GET', `/tags/${arnOf(resource)}`)).toMatchObject({ status: 200 });
  });

  test('are added and replaced', async () => {
    expect(await plane.call('PUT', path, { tags: { a: '2', b: '' } })).toMatchObject({ status: 204, body: undefined });
    expect(await tags()).toEqual({ a: '2', b: '' });
    expect((await plane.call('GET', resource)).body).toMatchObject({ tags: { a: '2', b: '' } });
  });

  test('are removed', async () => {
    await plane.call('PUT', path, { tags: { b: '2', c: '3' } });

    expect(await plane.call('DELETE', `${path}?tagKeys=a&tagKeys=c&tagKeys=none`)).toMatchObject({ status: 204 });
    expect(await tags()).toEqual({ b: '2' });
  });
});

test.each([
  ['a key that is not there', encoded('/apikeys/none')],
  ['a plan that is not there', encoded('/usageplans/none')],
  ['a key under the name of a plan', encoded('/usageplans/k1')],
  ['another kind of resource', encoded('/restapis/api')],
  ['another region', `/tags/${encodeURIComponent('arn:aws:apigateway:eu-west-1::/apikeys/k1')}`],
  ['what is no ARN', '/tags/k1'],
])('404: the tags of %s', async (_, path) => {
  for (const [method, body] of [['GET'], ['PUT', { tags: {} }], ['DELETE']] as const) {
    expect(await plane.call(method, path, body)).toMatchObject({ status: 404, error: 'NotFoundException' });
  }
});
