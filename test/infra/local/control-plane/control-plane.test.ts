import { describe, expect, test } from '@jest/globals';
import { ControlPlaneCalls } from '../../../support/control-plane-calls.ts';
import { anApiKey, aUsagePlan } from '../../../support/gateway-records.ts';

const plane = new ControlPlaneCalls();
plane.records.putApiKey(anApiKey());
plane.records.putUsagePlan(aUsagePlan({ apiStages: [] }));

describe('an answer', () => {});

describe('a call that is refused', () => {
  test.each([
    ['without Authorization', { authorization: undefined }],
    ['with a bearer token', { authorization: 'Bearer psk_x' }],
  ])('403: one %s', async (_, differences) => {
    expect(await plane.call('GET', '/apikeys', undefined, differences)).toMatchObject({
      status: 403,
      error: 'MissingAuthenticationTokenException',
      message: 'Missing Authentication Token',
    });
  });

  test.each([
    ['GET', '/restapis'],
    ['PUT', '/apikeys/k1'],
    ['GET', '/usageplans/plan/nothing'],
  ])('404: the operation %s %s, naming those that there are', async (method, path) => {
    expect(await plane.call(method, path)).toMatchObject({
      status: 404,
      error: 'UnknownOperationException',
      message: expect.stringMatching(/CreateApiKey, .*UntagResource$/),
    });
  });

  test.each([
    ['that is no JSON', Buffer.from('{"name":'), /must be a JSON object/],
    ['that is no object', Buffer.from('[]'), /must be a JSON object/],
    ['with a member that is not known', Buffer.from('{"nam":"acme"}'), /does not know the member nam /],
    ['with a member of another type', Buffer.from('{"name":5}'), /^name: .*Expected string/],
  ])('400: a body %s', async (_, body, message) => {
    expect(await plane.call('POST', '/apikeys', undefined, { body })).toMatchObject({
      status: 400,
      error: 'BadRequestException',
      message: expect.stringMatching(message),
    });
  });

  test('400: a body that is too long', async () => {
    expect(await plane.call('POST', '/apikeys', {}, { bodyTooLarge: true })).toMatchObject({
      status: 400,
      message: 'The request body is longer than 65536 bytes',
    });
  });

  test('400: a query parameter that is not known', async () => {
    expect(await plane.call('GET', '/apikeys?customer=1')).toMatchObject({
      status: 400,
      message: 'This host does not know the query parameter customer',
    });
  });
});

/** How often a call tells of a change. */
async function changesOf(...call: Parameters<ControlPlaneCalls['call']>): Promise<number> {
  const before = plane.changes;
  await plane.call(...call);
  return plane.changes - before;
}

describe('a change', () => {
  const api = '/usageplans/plan';
  test.each<[operation: string, method: string, path: string, body: unknown]>([
    ['CreateApiKey', 'POST', '/apikeys', { name: 'acme' }],
    ['UpdateApiKey', 'PATCH', '/apikeys/k1', { patchOperations: [{ op: 'replace', path: '/name', value: 'acme' }] }],
    ['CreateUsagePlan', 'POST', '/usageplans', { name: 'acme' }],
    ['UpdateUsagePlan', 'PATCH', api, { patchOperations: [] }],
    ['CreateUsagePlanKey', 'POST', `${api}/keys`, { keyId: 'k1', keyType: 'API_KEY' }],
    ['DeleteUsagePlanKey', 'DELETE', `${api}/keys/k1`, undefined],
    ['TagResource', 'PUT', '/tags/arn:aws:apigateway:us-east-1::/apikeys/k1', { tags: { a: 'b' } }],
    ['UntagResource', 'DELETE', '/tags/arn:aws:apigateway:us-east-1::/apikeys/k1?tagKeys=a', undefined],
    ['DeleteUsagePlan', 'DELETE', api, undefined],
    ['DeleteApiKey', 'DELETE', '/apikeys/k1', undefined],
  ])('is told of: %s', async (_, method, path, body) => {
    expect(await changesOf(method, path, body)).toBe(1);
  });

  test.each([
    ['that only reads', 'GET', '/apikeys', undefined],
    ['that is refused', 'DELETE', '/apikeys/none', undefined],
    ['with a bad body', 'POST', '/apikeys', { nam: 'acme' }],
  ])('is none by a call %s', async (_, method, path, body) => {
    expect(await changesOf(method, path, body)).toBe(0);
  });
});
