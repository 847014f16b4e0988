import { Readable } from 'node:stream';
import { describe, expect, test } from '@jest/globals';
import { answerOf, streamedAnswerOf } from '../../../../infra/local/gateway/proxy-result.ts';

/** The answer that the gateway makes of a function's result. */
function answer(result: unknown) {
  const { body, ...rest } = answerOf(JSON.stringify(result) ?? 'null');
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
    ['null', { statusCode: 204, headers: null, multiValueHeaders: null, body: null }],
  ])('needs only a status: the rest may be %s', (_, result) => {
    expect(answer(result)).toEqual({ status: 204, headers: [json], body: '' });
  });
});

describe('a malformed result is a 502', () => {
  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['an object without a status', {}],
    ['a status that is text', { statusCode: 'ok' }],
    ['a status above 599', { statusCode: 600 }],
    ['a body that is an object', { statusCode: 200, body: { quantity: 5 } }],
    ['headers that are a list', { statusCode: 200, headers: ['a'] }],
    ['a header that is an object', { statusCode: 200, headers: { a: {} } }],
    ['a header of several values that has one', { statusCode: 200, multiValueHeaders: { a: 'b' } }],
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

  test.each(['Content-Type', 'content-type', 'CONTENT-TYPE'])(
    'say what they are where the function says so: %s',
    (name) => {
      expect(headersOf({ headers: { [name]: 'text/html' } })).toEqual([[name, 'text/html']]);
      expect(headersOf({ multiValueHeaders: { [name]: ['text/html'] } })).toEqual([[name, 'text/html']]);
    },
  );

  test.each(['Content-Length', 'Date', 'WWW-Authenticate'])(
    'that the gateway keeps for itself come under another name: %s',
    (name) => {
      expect(headersOf({ headers: { [name]: '1' } })).toEqual([json, [`x-amzn-Remapped-${name}`, '1']]);
      expect(headersOf({ multiValueHeaders: { [name]: ['1', '2'] } })).toEqual([
        json,
        [`x-amzn-Remapped-${name}`, '1'],
        [`x-amzn-Remapped-${name}`, '2'],
      ]);
    },
  );
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

  test.each([
    ['no text', ''],
    ['no JSON', 'statusCode: 200'],
    ['no status', '{"headers":{}}'],
  ])('is a 502 where it is malformed: %s', (_, metadata) => {
    expect(() => streamedAnswerOf(metadata, body)).toThrow(
      expect.objectContaining({ name: 'GatewayError', type: 'DEFAULT_5XX' }),
    );
  });
});
