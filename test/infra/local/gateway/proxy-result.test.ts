import { Readable } from 'node:stream';
import { describe, expect, test } from '@jest/globals';
import { answerOf, streamedAnswerOf } from '../../../../infra/local/gateway/proxy-result.ts';
import { aGatewayRequest } from '../../../support/gateway-request.ts';

/** The answer that the gateway makes of a function's result, for a request that accepts `accept`. */
function answer(result: unknown, binaryMediaTypes: readonly string[] = [], accept?: string) {
  const request = aGatewayRequest({ headers: accept === undefined ? [] : [['Accept', accept]] });
  const { body, ...rest } = answerOf(JSON.stringify(result) ?? 'null', request, binaryMediaTypes);
  return { ...rest, body: body.toString() };
}

const headersOf = (result: object) => answer({ statusCode: 200, ...result }).headers;
const json = ['Content-Type', 'application/json'];

describe('the answer of a function', () => {
  test('has its status, headers and body', () => {
    expect(answer({ statusCode: 404, headers: { 'X-Id': '1' }, body: '{"ä":1}' })).toEqual({
      status: 404,
      headers: [json, ['X-Id', '1']],
      body: '{"ä":1}',
    });
  });

  test.each([
    ['left out', { statusCode: 204 }],
    ['null', { statusCode: 204, headers: null, multiValueHeaders: null, body: null, isBase64Encoded: null }],
  ])('needs only a status: the rest may be %s', (_, result) => {
    expect(answer(result)).toEqual({ status: 204, headers: [json], body: '' });
  });

  test.each([100, 200, 299, 404, 503, 599])('may have the status %d', (statusCode) => {
    expect(answer({ statusCode }).status).toBe(statusCode);
  });
});

describe('a malformed result is a 502', () => {
  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['text', 'ok'],
    ['a number', 200],
    ['a list', []],
    ['an object without a status', {}],
    ['the body of an answer', { quantity: 5 }],
    ['a status that is text', { statusCode: 'ok' }],
    ['a status that is a fraction', { statusCode: 200.5 }],
    ['a status below 100', { statusCode: 99 }],
    ['a status above 599', { statusCode: 600 }],
    ['no status but null', { statusCode: null }],
    ['a body that is an object', { statusCode: 200, body: { quantity: 5 } }],
    ['a body that is a number', { statusCode: 200, body: 5 }],
    ['headers that are a list', { statusCode: 200, headers: ['a'] }],
    ['headers that are text', { statusCode: 200, headers: 'a: b' }],
    ['a header that is an object', { statusCode: 200, headers: { a: {} } }],
    ['a header that is a list', { statusCode: 200, headers: { a: ['b'] } }],
    ['a header of several values that has one', { statusCode: 200, multiValueHeaders: { a: 'b' } }],
    ['isBase64Encoded that is text', { statusCode: 200, isBase64Encoded: 'true' }],
    ['an error', { errorType: 'Error', errorMessage: 'broken' }],
  ])('%s', (_, result) => {
    expect(() => answer(result)).toThrow(expect.objectContaining({ name: 'GatewayError', type: 'DEFAULT_5XX' }));
  });
});

describe('the headers of an answer', () => {
  test('may be text, numbers and truth values', () => {
    expect(headersOf({ headers: { a: 'x', b: 1, c: true, d: '' } })).toEqual([
      json,
      ['a', 'x'],
      ['b', '1'],
      ['c', 'true'],
      ['d', ''],
    ]);
  });

  test('may have several values', () => {
    expect(headersOf({ multiValueHeaders: { 'Set-Cookie': ['a=1', 'b=2'], 'X-Id': [] } })).toEqual([
      json,
      ['Set-Cookie', 'a=1'],
      ['Set-Cookie', 'b=2'],
    ]);
  });

  test('of both kinds come together', () => {
    expect(headersOf({ headers: { A: '1' }, multiValueHeaders: { B: ['2', '3'] } })).toEqual([
      json,
      ['A', '1'],
      ['B', '2'],
      ['B', '3'],
    ]);
  });

  test('that both kinds have, with the same value, come once', () => {
    expect(headersOf({ headers: { 'x-id': '1' }, multiValueHeaders: { 'X-Id': ['1', '2'] } })).toEqual([
      json,
      ['X-Id', '1'],
      ['X-Id', '2'],
    ]);
  });

  test.each(['Content-Type', 'content-type', 'CONTENT-TYPE'])(
    'say what they are where the function says so: %s',
    (name) => {
      expect(headersOf({ headers: { [name]: 'text/html' } })).toEqual([[name, 'text/html']]);
      expect(headersOf({ multiValueHeaders: { [name]: ['text/html'] } })).toEqual([[name, 'text/html']]);
    },
  );

  test.each([
    'Connection',
    'Content-Length',
    'content-length',
    'Date',
    'Host',
    'Server',
    'User-Agent',
    'WWW-Authenticate',
  ])('that the gateway keeps for itself come under another name: %s', (name) => {
    expect(headersOf({ headers: { [name]: '1' } })).toEqual([json, [`x-amzn-Remapped-${name}`, '1']]);
    expect(headersOf({ multiValueHeaders: { [name]: ['1', '2'] } })).toEqual([
      json,
      [`x-amzn-Remapped-${name}`, '1'],
      [`x-amzn-Remapped-${name}`, '2'],
    ]);
  });

  test.each(['Retry-After', 'Allow', 'X-RateLimit-Limit', 'Location', 'Cache-Control'])(
    'keep their name: %s',
    (name) => {
      expect(headersOf({ headers: { [name]: '1' } })).toEqual([json, [name, '1']]);
    },
  );
});

describe('a body in base64', () => {
  const encoded = {
    statusCode: 200,
    headers: { 'Content-Type': 'image/png' },
    body: 'aGVsbG8=',
    isBase64Encoded: true,
  };

  test.each([
    ['image/png', ['image/png']],
    ['image/png, */*', ['image/png']],
    ['IMAGE/PNG', ['image/png']],
    ['text/html', ['*/*']],
    [undefined, ['*/*']],
  ])('is decoded for who accepts %s where the binary types are %j', (accept, binaryMediaTypes) => {
    expect(answer(encoded, binaryMediaTypes, accept).body).toBe('hello');
  });

  test.each([
    ['image/png', []],
    ['text/html', ['image/png']],
    ['text/html, image/png', ['image/png']],
    ['*/*', ['image/png']],
    [undefined, ['image/png']],
  ])('is sent as it is to who accepts %s where the binary types are %j', (accept, binaryMediaTypes) => {
    expect(answer(encoded, binaryMediaTypes, accept).body).toBe('aGVsbG8=');
  });

  test('is not decoded where the function does not say that it is one', () => {
    expect(answer({ ...encoded, isBase64Encoded: false }, ['*/*'], 'image/png').body).toBe('aGVsbG8=');
  });

  test('keeps every byte', () => {
    const bytes = Buffer.from([0, 255, 128, 10]);
    const { body } = answerOf(
      JSON.stringify({ statusCode: 200, body: bytes.toString('base64'), isBase64Encoded: true }),
      aGatewayRequest(),
      ['*/*'],
    );

    expect(body).toEqual(bytes);
  });
});

describe('what a streaming function sends ahead of its body', () => {
  const body = Readable.from(['[1]']);

  test('has status and headers as a result has; the body is as it comes', () => {
    const metadata = {
      statusCode: 201,
      headers: { 'X-Id': '1', Vary: 'Accept-Encoding' },
      multiValueHeaders: { Link: ['<a>', '<b>'] },
    };

    expect(streamedAnswerOf(JSON.stringify(metadata), body)).toEqual({
      status: 201,
      headers: [json, ['X-Id', '1'], ['Vary', 'Accept-Encoding'], ['Link', '<a>'], ['Link', '<b>']],
      body,
    });
  });

  test('may name the encoding of the body', () => {
    const metadata = { statusCode: 200, headers: { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' } };

    expect(streamedAnswerOf(JSON.stringify(metadata), body).headers).toEqual([json, ['Content-Encoding', 'gzip']]);
  });

  test.each([
    ['no text', ''],
    ['no JSON', 'statusCode: 200'],
    ['half a JSON object', '{"statusCode":200'],
    ['a list', '[200]'],
    ['no status', '{"headers":{}}'],
    ['a status that is none', '{"statusCode":20}'],
    ['headers that are a list', '{"statusCode":200,"headers":["a"]}'],
  ])('is a 502 where it is malformed: %s', (_, metadata) => {
    expect(() => streamedAnswerOf(metadata, body)).toThrow(
      expect.objectContaining({ name: 'GatewayError', type: 'DEFAULT_5XX' }),
    );
  });

  test('is a malformed result of a function that is called for its result', () => {
    const streamed = `{"statusCode":200}${'\0'.repeat(8)}[1]`;

    expect(() => answerOf(streamed, aGatewayRequest(), [])).toThrow(
      expect.objectContaining({ name: 'GatewayError', type: 'DEFAULT_5XX' }),
    );
  });
});
