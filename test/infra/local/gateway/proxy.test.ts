import { Readable } from 'node:stream';
import { describe, expect, test } from '@jest/globals';
import { eventBody, requestEvent, type RoutedTo } from '../../../../infra/local/gateway/proxy-event.ts';
import { answerOf, streamedAnswerOf } from '../../../../infra/local/gateway/proxy-result.ts';
import { aGatewayRequest } from '../../../support/local-api.ts';

const to: RoutedTo = {
  apiId: 'api1',
  stage: 'v1',
  resourceId: 'res1',
  resourcePath: '/inventory/{petId}',
  pathParameters: { petId: '42' },
};

const REQUEST_ID = '7b4b5a2e-0d5c-4c39-9d0e-3f6f1a2b3c4d';

describe('the event of a request', () => {
  test('has the shape that API Gateway gives it (payload version 1.0)', () => {
    const headers = {
      Host: 'localhost:3000',
      'User-Agent': 'curl/8.5.0',
      Authorization: 'Bearer psk_x',
      'X-Amzn-Trace-Id': expect.stringMatching(/^Root=1-[0-9a-f]{8}-[0-9a-f]{24}$/),
      'X-Forwarded-For': '203.0.113.7',
      'X-Forwarded-Port': '3000',
      'X-Forwarded-Proto': 'http',
    };

    expect(requestEvent(aGatewayRequest({ path: '/inventory/42', query: 'a=1' }), to)).toEqual({
      resource: '/inventory/{petId}',
      path: '/inventory/42',
      httpMethod: 'GET',
      headers,
      multiValueHeaders: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]])),
      queryStringParameters: { a: '1' },
      multiValueQueryStringParameters: { a: ['1'] },
      pathParameters: { petId: '42' },
      stageVariables: null,
      requestContext: expect.objectContaining({
        apiId: 'api1',
        domainName: 'localhost:3000',
        httpMethod: 'GET',
        identity: expect.objectContaining({ sourceIp: '203.0.113.7', user: null, userAgent: 'curl/8.5.0' }),
        path: '/v1/inventory/42',
        requestId: REQUEST_ID,
        requestTime: '21/Nov/2026:09:30:00 +0000',
        requestTimeEpoch: Date.UTC(2026, 10, 21, 9, 30, 0, 250),
        resourceId: 'res1',
        resourcePath: '/inventory/{petId}',
        stage: 'v1',
      }),
    });
  });

  test('has null where there is nothing', () => {
    expect(requestEvent(aGatewayRequest({ headers: [] }), { ...to, pathParameters: {} })).toMatchObject({
      queryStringParameters: null,
      multiValueQueryStringParameters: null,
      pathParameters: null,
    });
    expect(eventBody(aGatewayRequest())).toEqual({ body: null, isBase64Encoded: false });
  });

  test('has headers that come twice, in whatever case: all in multiValueHeaders, the last of them in headers', () => {
    const headers = [
      ['X-Id', '1'],
      ['Accept', 'a'],
      ['x-id', '2'],
    ] as const;

    expect(requestEvent(aGatewayRequest({ headers }), to)).toMatchObject({
      headers: { 'X-Id': '2', Accept: 'a' },
      multiValueHeaders: { 'X-Id': ['1', '2'], Accept: ['a'] },
    });
  });

  test.each([
    ['a=1&b=2&a=3', { a: ['1', '3'], b: ['2'] }, { a: '3', b: '2' }],
    ['a', { a: [''] }, { a: '' }],
    ['a=%C3%A4%20b', { a: ['ä b'] }, { a: 'ä b' }],
  ])('has every value of the query %s, and the last of each name', (query, all, last) => {
    expect(requestEvent(aGatewayRequest({ query }), to)).toMatchObject({
      multiValueQueryStringParameters: all,
      queryStringParameters: last,
    });
  });

  test('has the body as text', () => {
    expect(eventBody(aGatewayRequest({ body: Buffer.from('{"name":"Käthe 犬"}') })).body).toBe('{"name":"Käthe 犬"}');
  });
});

/** The answer that the gateway makes of a function's result. */
function answer(result: unknown) {
  const { body, ...rest } = answerOf(JSON.stringify(result) ?? 'null');
  return { ...rest, body: body.toString() };
}

const json = ['Content-Type', 'application/json'];
const badGateway = expect.objectContaining({ name: 'GatewayError', type: 'DEFAULT_5XX' });

describe('the answer of a function', () => {
  test('has its status, headers and body', () => {
    expect(answer({ statusCode: 404, headers: { 'X-Id': 1, 'X-True': true }, body: '{"ä":1}' })).toEqual({
      status: 404,
      headers: [json, ['X-Id', '1'], ['X-True', 'true']],
      body: '{"ä":1}',
    });
  });

  test('needs only a status', () => {
    const nothing = { status: 204, headers: [json], body: '' };

    expect(answer({ statusCode: 204 })).toEqual(nothing);
    expect(answer({ statusCode: 204, headers: null, multiValueHeaders: null, body: null })).toEqual(nothing);
  });

  test('may have several values of a header, and its own type', () => {
    const headers = { 'content-type': 'text/html' };
    const multiValueHeaders = { 'Set-Cookie': ['a=1', 'b=2'] };

    expect(answer({ statusCode: 200, headers, multiValueHeaders }).headers).toEqual([
      ['content-type', 'text/html'],
      ['Set-Cookie', 'a=1'],
      ['Set-Cookie', 'b=2'],
    ]);
  });

  test.each(['Content-Length', 'WWW-Authenticate'])('has a header of the gateway under another name: %s', (name) => {
    expect(answer({ statusCode: 200, headers: { [name]: '1' } }).headers).toEqual([
      json,
      [`x-amzn-Remapped-${name}`, '1'],
    ]);
  });

  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['an object without a status', {}],
    ['a status above 599', { statusCode: 600 }],
    ['a body that is an object', { statusCode: 200, body: { quantity: 5 } }],
    ['headers that are a list', { statusCode: 200, headers: ['a'] }],
  ])('is a 502 where its result is malformed: %s', (_, result) => {
    expect(() => answer(result)).toThrow(badGateway);
  });
});

describe('the answer of a function that streams', () => {
  const body = Readable.from(['[1]']);

  test('has status and headers of its metadata; the body is as it comes', () => {
    expect(streamedAnswerOf('{"statusCode":201,"headers":{"X-Id":"1"}}', body)).toEqual({
      status: 201,
      headers: [json, ['X-Id', '1']],
      body,
    });
  });

  test.each(['', 'statusCode: 200', '{"headers":{}}'])('is a 502 where its metadata is malformed: %j', (metadata) => {
    expect(() => streamedAnswerOf(metadata, body)).toThrow(badGateway);
  });
});
