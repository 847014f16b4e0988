import { describe, expect, test } from '@jest/globals';
import { securityHeaders } from '../../../../shared/http/security-headers.ts';
import { usagePlanOf } from '../../../../infra/local/issue-demo-keys.ts';
import { HostError } from '../../../../infra/local/host-error.ts';
import type { GatewayRequest } from '../../../../infra/local/gateway/messages.ts';
import {
  admission,
  admitting,
  CUSTOMER,
  denial,
  limitsOfCustomer,
  limitsOfNobody,
} from '../../../support/authorizer-answers.ts';
import { aGatewayRequest } from '../../../support/gateway-request.ts';
import { withTimeout } from '../../../support/integration-timeout.ts';
import { type LocalApi, LocalApis } from '../../../support/local-api.ts';
import { type EditableTemplate, resourceOf } from '../../../support/service-template.ts';
import { answering } from '../../../support/test-functions.ts';

const apis = new LocalApis();

const REQUEST_ID = aGatewayRequest().id;

/** Answers with the event as its body. */
const telling = 'exports.handler = async (event) => ({ statusCode: 200, body: JSON.stringify(event) });';
const failing = `exports.handler = async () => { throw new Error('no'); };`;

async function answer(api: LocalApi, request: Partial<GatewayRequest> = {}) {
  const { body, ...head } = await api.answer(request);
  const parsed: unknown = JSON.parse(body.toString());
  return { ...head, body: parsed };
}

describe('an admitted request', () => {
  const everyFunction = apis.start({ authorizer: admitting });

  test.each([
    ['GET', '/inventory', 'list'],
    ['PATCH', '/inventory/42', 'update'],
    ['GET', '/pets/42', 'pet'],
    ['GET', '/store/orders', 'orders'],
    ['GET', '/inventory/42', 'fallback'],
    ['GET', '/', 'fallback'],
  ])('%s %s is answered by the function %s', async (method, path, name) => {
    expect(await answer(everyFunction, { method, path })).toMatchObject({ status: 200, body: name });
  });

  test('reaches its function with its body, its path parameters and the context of the authorizer', async () => {
    const api = apis.start({ authorizer: admitting, updateInventory: telling });
    const body = Buffer.from('{"quantity":5}');

    expect(await answer(api, { method: 'PATCH', path: '/inventory/42', body })).toMatchObject({
      body: {
        resource: '/inventory/{petId}',
        path: '/inventory/42',
        httpMethod: 'PATCH',
        pathParameters: { petId: '42' },
        body: '{"quantity":5}',
        isBase64Encoded: false,
        requestContext: {
          stage: 'v1',
          requestId: REQUEST_ID,
          authorizer: { ...admission.context, principalId: 'k1', integrationLatency: expect.any(String) },
        },
      },
    });
  });
});

describe('the authorizer', () => {
  test('is asked about every request: nothing it said before is used again', async () => {
    const api = apis.start({
      authorizer: `let calls = 0; exports.handler = async () => (++calls === 1 ? ${JSON.stringify(admission)}
        : ${JSON.stringify(denial)});`,
    });

    expect((await answer(api)).status).toBe(200);
    expect((await answer(api)).status).toBe(401);
  });

  test('is asked about a path that is none, and about a request without a key', async () => {
    const api = apis.start({ authorizer: answering(denial) });

    expect((await answer(api, { path: '/nothing/here' })).status).toBe(401);
    expect((await answer(api, { headers: [] })).status).toBe(401);
  });
});

describe('an error of the gateway', () => {
  test('is ACCESS_DENIED for a denied request, with the error and the limit that the authorizer gives', async () => {
    expect(await answer(apis.start({ authorizer: answering(denial), listInventory: failing }))).toEqual({
      status: 401,
      headers: {
        'Content-Type': 'application/json',
        'X-RateLimit-Limit': '0',
        'X-RateLimit-Remaining': '0',
        'X-RateLimit-Reset': '9',
        'RateLimit-Policy': '"minute";q=0;w=60, "day";q=0;w=86400',
        RateLimit: '"minute";r=0;t=9, "day";r=0;t=99',
        'Access-Control-Allow-Origin': 'https://reference.invalid',
        'Access-Control-Expose-Headers': expect.stringContaining('RateLimit-Policy'),
        'WWW-Authenticate': 'Bearer realm="r"',
        ...securityHeaders,
        'x-amzn-RequestId': REQUEST_ID,
        'x-amz-apigw-id': REQUEST_ID,
      },
      body: { code: 'API_KEY_MISSING', message: 'Send your key.', status: 401 },
    });
  });

  test.each([
    ['throws', failing, 503, 'SERVICE_UNAVAILABLE'],
    ['exits', 'process.exit(1)', 503, 'SERVICE_UNAVAILABLE'],
    ['answers with nothing', answering(null), 503, 'SERVICE_UNAVAILABLE'],
    ['says Unauthorized', `exports.handler = async () => { throw 'Unauthorized'; };`, 401, 'API_KEY_MISSING'],
  ])('is made for an authorizer that fails, and no function is asked: %s', async (_, authorizer, status, code) => {
    const reply = await answer(apis.start({ authorizer }));

    expect(reply).toMatchObject({ status, headers: limitsOfNobody, body: { code, status } });
  });

  test.each([
    ['no usage identifier', undefined],
    ['that of no key', 'nobody'],
  ])('is INVALID_API_KEY where the authorizer gives %s', async (_, usageIdentifierKey) => {
    const api = apis.start({ authorizer: answering({ ...admission, usageIdentifierKey }), listInventory: failing });

    expect(await answer(api)).toMatchObject({
      status: 401,
      headers: limitsOfCustomer,
      body: { code: 'API_KEY_INVALID' },
    });
  });

  test('is THROTTLED beyond the burst of the usage plan, with the limit headers and Retry-After', async () => {
    const api = apis.start({ authorizer: admitting });
    const outOfBurst = usagePlanOf(api.records, 'free')?.throttle?.burstLimit ?? 0;
    for (let request = 0; request < outOfBurst; request++) api.usageMeter.meter(CUSTOMER, Date.now());

    expect(await answer(api)).toMatchObject({
      status: 429,
      headers: { ...limitsOfCustomer, 'Retry-After': '7' },
      body: { code: 'TOO_MANY_REQUESTS', status: 429 },
    });
  });

  test.each([
    ['throws', failing],
    ['returns something else', answering({ quantity: 5 })],
  ])('is a 502 with the limit headers for a function that %s', async (_, updateInventory) => {
    const api = apis.start({ authorizer: admitting, updateInventory });

    expect(await answer(api, { method: 'PATCH', path: '/inventory/42' })).toMatchObject({
      status: 502,
      headers: limitsOfCustomer,
      body: { code: 'BAD_GATEWAY', status: 502 },
    });
  });

  test('is a 504 with the limit headers for a function that takes longer than the integration waits', async () => {
    const updateInventory = 'exports.handler = () => new Promise(() => {});';
    const api = apis.start({ authorizer: admitting, updateInventory }, withTimeout(100));

    expect(await answer(api, { method: 'PATCH', path: '/inventory/42' })).toMatchObject({
      status: 504,
      headers: limitsOfCustomer,
      body: { code: 'GATEWAY_TIMEOUT' },
    });
  });
});

describe('the access log', () => {
  const entry = { requestId: REQUEST_ID, time: '21/Nov/2026:09:30:00 +0000', ip: '203.0.113.7', method: 'GET' };

  test('has a line of JSON for an answered request', async () => {
    const api = apis.start({ authorizer: admitting });
    await answer(api);

    expect(await api.accessLog()).toEqual([
      {
        ...entry,
        resource: '/inventory',
        status: '200',
        bytes: '6',
        milliseconds: expect.stringMatching(/^-?\d+$/),
        integrationMilliseconds: expect.stringMatching(/^\d+$/),
        keyId: 'k1',
        plan: '-',
        outcome: 'ADMITTED',
        gatewayError: '-',
      },
    ]);
  });

  test('has one for an error of the gateway too', async () => {
    const api = apis.start({ authorizer: answering(denial) });
    await answer(api, { bodyTooLarge: true });
    await answer(api, { path: '/secret' });

    expect(await api.accessLog()).toMatchObject([
      { ...entry, resource: '-', status: '413', keyId: '-', gatewayError: 'REQUEST_TOO_LARGE' },
      { ...entry, resource: '/{path+}', status: '401', keyId: 'anonymous', gatewayError: 'ACCESS_DENIED' },
    ]);
  });
});

const methodOf = (template: EditableTemplate, id = '') =>
  resourceOf(template, 'AWS::ApiGateway::Method', id)[1].Properties;

describe('a template that the local gateway cannot serve', () => {
  const proxy = { Type: 'AWS_PROXY', IntegrationHttpMethod: 'POST' };
  const path = 'arn:aws:apigateway:us-east-1:lambda:path/2015-03-31/functions';
  const mock = {
    Type: 'MOCK',
    RequestTemplates: { 'application/json': '{"statusCode":204}' },
    IntegrationResponses: [
      { StatusCode: '204', ResponseParameters: { 'method.response.header.X-Id': 'context.requestId' } },
    ],
  };

  test.each<[string, (template: EditableTemplate) => unknown, RegExp]>([
    [
      'two stages',
      (template) => (template.Resources.Second = resourceOf(template, 'AWS::ApiGateway::Stage')[1]),
      /exactly one stage; this one has 2/,
    ],
    [
      'an authorizer of another stack',
      (template) => (methodOf(template).AuthorizerId = 'another'),
      /^Resource ApiRestApi\w+: there is no authorizer another$/,
    ],
    [
      'a function of another stack',
      (template) => (methodOf(template).Integration = { ...proxy, Uri: `${path}/arn:another/invocations` }),
      /^Resource ApiRestApi\w+: .* no function behind .*arn:another/,
    ],
    [
      'a stream of a function that is called for its result',
      (template) => {
        const { Integration } = methodOf(template, 'ApiRestApiinventorypetIdPATCH');
        methodOf(template, 'ApiRestApiinventorypetIdPATCH').Integration = Object.assign({}, Integration, {
          ResponseTransferMode: 'STREAM',
        });
      },
      /no function behind .*\/2015-03-31\/.*\/invocations$/,
    ],
    [
      'a fixed answer with a header that is computed',
      (template) => (methodOf(template, 'ApiRestApiinventoryOPTIONS').Integration = mock),
      /method\.response\.header\.X-Id \(got context\.requestId\)$/,
    ],
    [
      'a method of a resource of another stack',
      (template) => (methodOf(template).ResourceId = 'another'),
      /no API resource another$/,
    ],
  ])('stops the local host: %s', (_, change, message) => {
    const start = () => apis.start({ authorizer: admitting }, (template) => void change(template));

    expect(start).toThrow(HostError);
    expect(start).toThrow(message);
  });
});

const withTemplate = (text: string) => (template: EditableTemplate) => {
  for (const { Properties } of Object.values(template.Resources)) {
    const { HttpMethod, Integration } = Object(Properties);
    if (HttpMethod === 'OPTIONS') Integration.IntegrationResponses[0].ResponseTemplates = { 'application/json': text };
  }
};

describe('a preflight that names the origin of the request', () => {
  const echo = `#set($origin = $input.params("Origin"))
#if($origin == "")#set($origin = $input.params("origin"))#end
#if($origin == "https://shop.example.com" || $origin == "https://app.example.com")
#set($context.responseOverride.header.Access-Control-Allow-Origin = $origin)
#end`;

  test.each([
    ['https://app.example.com', 'https://app.example.com'],
    ['https://evil.example.com', 'https://reference.invalid'],
  ])('answers %s with %s', async (origin, allowed) => {
    const api = apis.start({ authorizer: admitting }, withTemplate(echo));
    const { status, headers } = await api.answer({ method: 'OPTIONS', headers: [['origin', origin]] });

    expect({ status, allowed: headers['Access-Control-Allow-Origin'] }).toEqual({ status: 204, allowed });
  });

  test('by another template is not served', () => {
    expect(() => apis.start({ authorizer: admitting }, withTemplate('#end'))).toThrow(HostError);
  });
});
