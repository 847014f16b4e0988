import { describe, expect, test } from '@jest/globals';
import * as v from 'valibot';
import {
  commonLogTime,
  eventBody,
  isBinaryMediaType,
  requestEvent,
  type RoutedTo,
} from '../../../../infra/local/gateway/proxy-event.ts';
import type { HeaderFields } from '../../../../infra/local/gateway/messages.ts';
import { aGatewayRequest } from '../../../support/gateway-request.ts';

const to: RoutedTo = {
  apiId: 'api1',
  stage: 'v1',
  resourceId: 'res1',
  resourcePath: '/inventory/{petId}',
  pathParameters: { petId: '42' },
  binaryMediaTypes: [],
};

const REQUEST_ID = '7b4b5a2e-0d5c-4c39-9d0e-3f6f1a2b3c4d';

const eventOf = (...headers: HeaderFields) => requestEvent(aGatewayRequest({ headers }), to);

const bodyOf = (body: Buffer, contentType?: string, binaryMediaTypes: readonly string[] = []) =>
  eventBody(
    aGatewayRequest({ body, headers: contentType === undefined ? [] : [['content-type', contentType]] }),
    binaryMediaTypes,
  );

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

  test('survives JSON: nothing of it is undefined', () => {
    const event = requestEvent(aGatewayRequest({ headers: [] }), { ...to, pathParameters: {} });

    expect(JSON.parse(JSON.stringify(event))).toStrictEqual(structuredClone(event));
  });

  test('has the path as it was sent', () => {
    expect(requestEvent(aGatewayRequest({ path: '/inventory/4%32' }), to)).toMatchObject({
      path: '/inventory/4%32',
      requestContext: { path: '/v1/inventory/4%32' },
    });
  });
});

describe('the headers of an event', () => {
  test('keep the case that they were sent in', () => {
    expect(eventOf(['AUTHORIZATION', 'Bearer a'], ['x-id', '1'])).toMatchObject({
      headers: { AUTHORIZATION: 'Bearer a', 'x-id': '1' },
    });
  });

  test('that come twice, in whatever case, are all in multiValueHeaders, and the last of them in headers', () => {
    expect(eventOf(['X-Id', '1'], ['Accept', 'a'], ['x-id', '2'], ['X-ID', '3'])).toMatchObject({
      headers: { 'X-Id': '3', Accept: 'a' },
      multiValueHeaders: { 'X-Id': ['1', '2', '3'], Accept: ['a'] },
    });
  });

  test('may be empty', () => {
    expect(eventOf(['X-Id', ''])).toMatchObject({ headers: { 'X-Id': '' }, multiValueHeaders: { 'X-Id': [''] } });
  });

  test.each(['__proto__', 'constructor', 'toString'])('may be called %s', (name) => {
    const { multiValueHeaders } = eventOf([name, '1']);

    expect(JSON.stringify(multiValueHeaders)).toContain(`"${name}":["1"]`);
  });

  test.each([
    ['localhost:8080', '8080'],
    ['api.example.com', '80'],
    ['[::1]:3000', '3000'],
    ['[::1]', '80'],
  ])('say the port of %s', (host, port) => {
    expect(eventOf(['Host', host])).toMatchObject({ headers: { 'X-Forwarded-Port': port } });
  });

  test('say a port where the request names no host (HTTP/1.0)', () => {
    expect(eventOf()).toMatchObject({ headers: { 'X-Forwarded-Port': '80' } });
  });
});

describe('the query of an event', () => {
  test.each([
    ['a=1&b=2', { a: ['1'], b: ['2'] }],
    ['a=1&b=2&a=3', { a: ['1', '3'], b: ['2'] }],
    ['a', { a: [''] }],
    ['a=', { a: [''] }],
    ['a=b=c', { a: ['b=c'] }],
    ['a=%C3%A4%20b', { a: ['ä b'] }],
    ['%61=1', { a: ['1'] }],
    ['a=1&A=2', { a: ['1'], A: ['2'] }],
    ['a=%zz', { a: ['%zz'] }],
    ['toString=1&constructor=2', { toString: ['1'], constructor: ['2'] }],
    ['__proto__=1', JSON.parse('{"__proto__":["1"]}')],
  ])('%s has every value, and the last of each name', (query, groups: Readonly<Record<string, readonly string[]>>) => {
    const event = requestEvent(aGatewayRequest({ query }), to);

    expect(JSON.stringify(event.multiValueQueryStringParameters)).toBe(JSON.stringify(groups));
    expect(event.queryStringParameters).toEqual(
      Object.fromEntries(Object.entries(groups).map(([name, values]) => [name, values.at(-1)])),
    );
  });
});

describe('the body of an event', () => {
  test('is null where there is none', () => {
    expect(bodyOf(Buffer.alloc(0), 'application/json')).toEqual({ body: null, isBase64Encoded: false });
  });

  test('is text', () => {
    expect(bodyOf(Buffer.from('{"name":"Käthe 犬"}'), 'application/json')).toEqual({
      body: '{"name":"Käthe 犬"}',
      isBase64Encoded: false,
    });
  });

  test.each([
    ['image/png', ['image/png']],
    ['image/png', ['application/pdf', 'image/png']],
    ['IMAGE/PNG', ['image/png']],
    ['image/png', ['Image/PNG']],
    ['image/png; a=b', ['image/png']],
    ['image/png', ['*/*']],
    [undefined, ['*/*']],
  ])('of type %s is base64 where the binary types are %j', (contentType, binaryMediaTypes) => {
    const bytes = Buffer.from([0, 255, 128]);

    expect(bodyOf(bytes, contentType, binaryMediaTypes)).toEqual({ body: 'AP+A', isBase64Encoded: true });
  });

  test.each([
    ['image/png', []],
    ['image/jpeg', ['image/png']],
    ['application/json', ['image/png']],
    [undefined, ['image/png']],
    ['', ['image/png']],
  ])('of type %s is text where the binary types are %j', (contentType, binaryMediaTypes) => {
    expect(bodyOf(Buffer.from('abc'), contentType, binaryMediaTypes)).toEqual({ body: 'abc', isBase64Encoded: false });
  });
});

describe('an Accept header', () => {
  test.each([
    ['image/png', true],
    ['image/png, text/html', true],
    ['image/png;q=0.1, text/html', true],
    ['text/html, image/png', false],
    ['image/*', false],
    ['*/*', false],
    ['', false],
  ])('%s asks for the binary type image/png: %s', (accept, binary) => {
    expect(isBinaryMediaType(accept, ['image/png'])).toBe(binary);
  });
});

test.each([
  [Date.UTC(2026, 0, 1), '01/Jan/2026:00:00:00 +0000'],
  [Date.UTC(2026, 11, 31, 23, 59, 59, 999), '31/Dec/2026:23:59:59 +0000'],
])('The time %d is in the Common Log Format: %s', (time, text) => {
  expect(commonLogTime(time)).toBe(text);
});

test('Each request has a trace of its own', () => {
  const headers = v.object({ headers: v.object({ 'X-Amzn-Trace-Id': v.string() }) });
  const traces = ['1', '2'].map((digit) => {
    const event = requestEvent(aGatewayRequest({ id: REQUEST_ID.replace(/^7/, digit) }), to);
    return v.parse(headers, event).headers['X-Amzn-Trace-Id'];
  });

  expect(traces[0]).not.toBe(traces[1]);
});
