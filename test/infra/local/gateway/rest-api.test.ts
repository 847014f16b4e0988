import { describe, expect, test } from '@jest/globals';
import type { GatewayRequest } from '../../../../infra/local/gateway/messages.ts';
import { admission, admitting, denial, type LocalApi, LocalApis, withTimeout } from '../local-api.ts';
import { admittedLimits } from '../../../support/proxy-event.ts';
import { type EditableTemplate, resourceOf } from '../../../support/service-template.ts';
import { streaming } from '../test-functions.ts';

const apis = new LocalApis();

const update = { method: 'PATCH', path: '/inventory/42' };

async function answer(api: LocalApi, request: Partial<GatewayRequest> = {}) {
  const { body, ...head } = await api.answer(request);
  const parsed: unknown = JSON.parse(body.toString());
  return { ...head, body: parsed };
}

test('The authorizer is asked about every request: nothing it said before is used again', async () => {
  const api = apis.start({
    authorizer: `let calls = 0; exports.handler = async () => (++calls === 1 ? ${JSON.stringify(admission)}
      : ${JSON.stringify(denial)});`,
  });

  expect((await answer(api)).status).toBe(200);
  expect((await answer(api, { path: '/nothing/here', headers: [] })).status).toBe(401);
});

describe('an error of the gateway', () => {
  test('is THROTTLED beyond the burst of the usage plan, with limit headers that know nothing and Retry-After', async () => {
    const api = apis.start({ authorizer: admitting }, (template) => {
      resourceOf(template, 'AWS::ApiGateway::UsagePlan', 'UsagePlansFree')[1].Properties['Throttle'] = {
        RateLimit: 1,
        BurstLimit: 1,
      };
    });
    await api.answer();

    expect(await answer(api)).toMatchObject({
      status: 429,
      headers: { 'X-RateLimit-Limit': '0', 'X-RateLimit-Remaining': '0', 'X-RateLimit-Reset': '0', 'Retry-After': '1' },
      body: { code: 'TOO_MANY_REQUESTS', status: 429 },
    });
  });

  test.each([
    ['', { updateInventory: 'exports.handler = () => new Promise(() => {});' }, update],
    [' that streams', { listInventory: streaming('await new Promise(() => {});') }, {}],
  ])('is a 504 with the limit headers where a function%s takes too long', async (_, sources, request) => {
    const api = apis.start({ authorizer: admitting, ...sources }, withTimeout(100));
    const answered = await answer(api, request);

    expect(answered).toMatchObject({ status: 504, headers: admittedLimits, body: { code: 'GATEWAY_TIMEOUT' } });
  });
});

test('A template stops the local host where a fixed answer has a header that is computed', () => {
  const mock = {
    Type: 'MOCK',
    RequestTemplates: { 'application/json': '{"statusCode":204}' },
    IntegrationResponses: [
      { StatusCode: '204', ResponseParameters: { 'method.response.header.X-Id': 'context.requestId' } },
    ],
  };
  const change = (template: EditableTemplate): void => {
    resourceOf(template, 'AWS::ApiGateway::Method', 'ApiRestApiinventoryOPTIONS')[1].Properties.Integration = mock;
  };

  expect(() => apis.start({ authorizer: admitting }, change)).toThrow(
    /method\.response\.header\.X-Id \(got context\.requestId\)$/,
  );
});
