import { describe, expect, test } from '@jest/globals';
import type { GatewayRequest } from '../../../../infra/local/gateway/messages.ts';
import { requestContext, requestEvent } from '../../../../infra/local/gateway/proxy-event.ts';
import { answerOf } from '../../../../infra/local/gateway/proxy-result.ts';
import { apiStage } from '../../../support/gateway-records.ts';
import { aGatewayRequest } from '../../../support/proxy-event.ts';

const match = { resourcePath: '/inventory/{petId}', pathParameters: { petId: '42' } };

const eventOf = (
  differences: Partial<GatewayRequest>,
  pathParameters: Record<string, string> = match.pathParameters,
) => {
  const request = aGatewayRequest(differences);
  return requestEvent(request, { ...match, pathParameters }, requestContext(request, apiStage));
};

describe('the event of a request', () => {
  test('has the shape that API Gateway gives it (payload version 1.0)', () => {
    const headers = {
      Host: 'localhost:3000',
      'User-Agent': 'curl/8.5.0',
      Authorization: 'Bearer psk_x',
    };

    expect(eventOf({ path: '/inventory/42', query: 'a=1' })).toEqual({
      resource: '/inventory/{petId}',
      path: '/inventory/42',
      httpMethod: 'GET',
      headers,
      multiValueHeaders: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]])),
      queryStringParameters: { a: '1' },
      multiValueQueryStringParameters: { a: ['1'] },
      pathParameters: { petId: '42' },
      requestContext: expect.objectContaining({
        apiId: 'api',
        httpMethod: 'GET',
        identity: expect.objectContaining({ sourceIp: '203.0.113.7', userAgent: 'curl/8.5.0' }),
        path: '/v1/inventory/42',
        requestId: '7b4b5a2e-0d5c-4c39-9d0e-3f6f1a2b3c4d',
        requestTime: '21/Nov/2026:09:30:00 +0000',
        requestTimeEpoch: Date.UTC(2026, 10, 21, 9, 30, 0, 250),
        stage: 'v1',
      }),
    });
  });

  test('has null where there is nothing', () => {
    const nothing = { queryStringParameters: null, multiValueQueryStringParameters: null, pathParameters: null };

    expect(eventOf({ headers: [] }, {})).toMatchObject(nothing);
  });
});

/** The answer that the gateway makes of a function's result. */
const answer = (result: unknown) => {
  const { status, headers, body } = answerOf(JSON.stringify(result));
  return { status, headers, body: String(body) };
};

const json = ['Content-Type', 'application/json'];
const badGateway = expect.objectContaining({ name: 'GatewayError', type: 'DEFAULT_5XX' });

describe('the answer of a function', () => {
  test('has its status, headers and body', () => {
    expect(answer({ statusCode: 404, headers: { 'X-Id': 1 }, body: '{"ä":1}' })).toEqual({
      status: 404,
      headers: [json, ['X-Id', '1']],
      body: '{"ä":1}',
    });
    expect(answer({ statusCode: 204 })).toEqual({ status: 204, headers: [json], body: '' });
  });

  test('may have its own type', () => {
    const headers = { 'content-type': 'text/html' };

    expect(answer({ statusCode: 200, headers }).headers).toEqual([['content-type', 'text/html']]);
  });

  test.each([
    'statusCode: 200',
    '{"statusCode":600}',
    '{"statusCode":200,"body":{"quantity":5}}',
    '{"statusCode":200,"multiValueHeaders":{}}',
  ])('is a 502 where its result is malformed: %j', (result) => {
    expect(() => answerOf(result)).toThrow(badGateway);
  });
});
