import { describe, expect, test } from '@jest/globals';
import { eventBody, requestEvent, type RoutedTo } from '../../../../infra/local/gateway/proxy-event.ts';
import type { HeaderFields } from '../../../../infra/local/gateway/messages.ts';
import { aGatewayRequest } from '../../../support/local-api.ts';

const to: RoutedTo = {
  apiId: 'api1',
  stage: 'v1',
  resourceId: 'res1',
  resourcePath: '/inventory/{petId}',
  pathParameters: { petId: '42' },
};

const REQUEST_ID = '7b4b5a2e-0d5c-4c39-9d0e-3f6f1a2b3c4d';

const eventOf = (...headers: HeaderFields) => requestEvent(aGatewayRequest({ headers }), to);

describe('the event of a request', () => {
  test('has the shape that API Gateway gives it (payload version 1.0)', () => {
    const event = requestEvent(aGatewayRequest({ path: '/inventory/42', query: 'a=1' }), to);

    expect(event).toEqual({
      resource: '/inventory/{petId}',
      path: '/inventory/42',
      httpMethod: 'GET',
      headers: {
        Host: 'localhost:3000',
        'User-Agent': 'curl/8.5.0',
        Authorization: 'Bearer psk_x',
        'X-Amzn-Trace-Id': expect.stringMatching(/^Root=1-[0-9a-f]{8}-[0-9a-f]{24}$/),
        'X-Forwarded-For': '203.0.113.7',
        'X-Forwarded-Port': '3000',
        'X-Forwarded-Proto': 'http',
      },
      multiValueHeaders: {
        Host: ['localhost:3000'],
        'User-Agent': ['curl/8.5.0'],
        Authorization: ['Bearer psk_x'],
        'X-Amzn-Trace-Id': [expect.any(String)],
        'X-Forwarded-For': ['203.0.113.7'],
        'X-Forwarded-Port': ['3000'],
        'X-Forwarded-Proto': ['http'],
      },
      queryStringParameters: { a: '1' },
      multiValueQueryStringParameters: { a: ['1'] },
      pathParameters: { petId: '42' },
      stageVariables: null,
      requestContext: {
        accountId: '000000000000',
        apiId: 'api1',
        domainName: 'localhost:3000',
        domainPrefix: 'localhost:3000',
        extendedRequestId: REQUEST_ID,
        httpMethod: 'GET',
        identity: {
          accessKey: null,
          accountId: null,
          caller: null,
          cognitoAuthenticationProvider: null,
          cognitoAuthenticationType: null,
          cognitoIdentityId: null,
          cognitoIdentityPoolId: null,
          principalOrgId: null,
          sourceIp: '203.0.113.7',
          user: null,
          userAgent: 'curl/8.5.0',
          userArn: null,
        },
        path: '/v1/inventory/42',
        protocol: 'HTTP/1.1',
        requestId: REQUEST_ID,
        requestTime: '21/Nov/2026:09:30:00 +0000',
        requestTimeEpoch: Date.UTC(2026, 10, 21, 9, 30, 0, 250),
        resourceId: 'res1',
        resourcePath: '/inventory/{petId}',
        stage: 'v1',
      },
    });
  });

  test('has null where there is nothing', () => {
    expect(requestEvent(aGatewayRequest({ headers: [] }), { ...to, pathParameters: {} })).toMatchObject({
      queryStringParameters: null,
      multiValueQueryStringParameters: null,
      pathParameters: null,
      stageVariables: null,
      requestContext: { identity: { userAgent: null } },
    });
  });
});

describe('the headers of an event', () => {
  test('that come twice, in whatever case, are all in multiValueHeaders, and the last of them in headers', () => {
    expect(eventOf(['X-Id', '1'], ['Accept', 'a'], ['x-id', '2'], ['X-ID', '3'])).toMatchObject({
      headers: { 'X-Id': '3', Accept: 'a' },
      multiValueHeaders: { 'X-Id': ['1', '2', '3'], Accept: ['a'] },
    });
  });

  test.each([
    ['localhost:8080', '8080'],
    ['api.example.com', '80'],
  ])('say the port of %s', (host, port) => {
    expect(eventOf(['Host', host])).toMatchObject({ headers: { 'X-Forwarded-Port': port } });
  });
});

describe('the query of an event', () => {
  test.each([
    ['a=1&b=2', { a: ['1'], b: ['2'] }],
    ['a=1&b=2&a=3', { a: ['1', '3'], b: ['2'] }],
    ['a', { a: [''] }],
    ['a=b=c', { a: ['b=c'] }],
    ['a=%C3%A4%20b', { a: ['ä b'] }],
    ['__proto__=1', JSON.parse('{"__proto__":["1"]}')],
  ])('%s has every value, and the last of each name', (query, groups: Readonly<Record<string, readonly string[]>>) => {
    const event = requestEvent(aGatewayRequest({ query }), to);

    expect(JSON.stringify(event.multiValueQueryStringParameters)).toBe(JSON.stringify(groups));
    expect(event.queryStringParameters).toEqual(
      Object.fromEntries(Object.entries(groups).map(([name, values]) => [name, values.at(-1)])),
    );
  });
});

test('The body of an event is text, and null where there is none', () => {
  expect(eventBody(aGatewayRequest({ body: Buffer.from('{"name":"Käthe 犬"}') }))).toEqual({
    body: '{"name":"Käthe 犬"}',
    isBase64Encoded: false,
  });
  expect(eventBody(aGatewayRequest())).toEqual({ body: null, isBase64Encoded: false });
});
