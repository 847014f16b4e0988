import { describe, expect, test } from '@jest/globals';
import { inventoryUpdateSchema, inventoryUpdatesSchema } from '../../../shared/contract/inventory.ts';
import { MAX_BODY_BYTES, parseJsonBody } from '../../../shared/http/json-body.ts';
import { aRequest } from '../../support/proxy-event.ts';

const JSON_TYPE = 'application/json';
const RULE = 'must be an integer from 0 to 2147483647.';

const requestWith = (body: string, headers: Record<string, string> = { 'Content-Type': JSON_TYPE }) =>
  aRequest({ method: 'PATCH', headers, body });
const parse = (body: string, headers?: Record<string, string>) =>
  parseJsonBody(requestWith(body, headers), inventoryUpdateSchema, '{"quantity":5}');
const parseRows = (body: string) => parseJsonBody(requestWith(body), inventoryUpdatesSchema, '{"quantity":5}');

function parseBase64(text: string) {
  const body = Buffer.from(text).toString('base64');
  const request = aRequest({ headers: { 'Content-Type': JSON_TYPE }, body, isBase64Encoded: true });
  return parseJsonBody(request, inventoryUpdateSchema, '{"quantity":5}');
}

const anError = (code: string, status: number) => expect.objectContaining({ code, status });
const invalidBody = (fault: string) => {
  const message = `${fault} Send JSON such as {"quantity":5}.`;
  return expect.objectContaining({ code: 'INVALID_BODY', status: 400, message });
};

const quantityFault = (found: string) => invalidBody(`The field "quantity" is ${found}, but ${RULE}`);

const padded = (bytes: number) => '{"quantity":5}'.padEnd(bytes, ' ');

describe('a JSON body', () => {
  test.each([
    ['the smallest quantity', '{"quantity":0}', 0],
    ['the largest quantity', '{"quantity":2147483647}', 2_147_483_647],
    ['an integer written with a fraction and an exponent', '{"quantity":1.25e2}', 125],
    ['an integer written with a negative exponent', '{"quantity":50e-1}', 5],
    ['a zero with any exponent', '{"quantity":0.0e-400}', 0],
    ['an escaped field name', ' {\r\n\t"\\u0071uantity" : 5 } ', 5],
  ])('is accepted with %s', (_, body, quantity) => {
    expect(parse(body)).toEqual({ quantity });
  });

  test.each(['1e-400', '6.9999999999999999999', '12e-1'])(
    'is refused with %s, which is an integer only after rounding',
    (number) => {
      expect(() => parse(`{"quantity":${number}}`)).toThrow(quantityFault(number));
    },
  );

  test.each([
    ['twice, once with an escape', '{"quantity":5 , "\\u0071uantity" :6}', 'quantity'],
    ['twice within another', '{"quantity":5,"a":[{"b":1,"c":"{","b":2}]}', 'b'],
    ['twice, with an escape in its name', '{"a\\"":1,"a\\"":2}', 'a"'],
  ])('is refused with a field given %s', (_, body, field) => {
    expect(() => parse(body)).toThrow(invalidBody(`The field ${JSON.stringify(field)} is a duplicate.`));
  });

  test('may repeat a field name in other objects and in strings', () => {
    const body = '{"a":{"b":1},"c":[{"b":1},{"b":2}],"d":"\\"a\\":","quantity":5}';

    expect(() => parse(body)).toThrow(invalidBody(`The field "a" is unknown.`));
  });

  test.each([
    ['[5,{"petId":1,"quantity":1,"quantity":2}]', 'Row 2: The field "quantity" is a duplicate.'],
    ['[{"petId":{"a":[1,2]},"quantity":1},[{"b":1},{"c":1,"c":2}]]', 'Row 2: The field "c" is a duplicate.'],
    ['[{"petId":1,"quantity":1,"":1}]', 'Row 1: The field "" is unknown.'],
    ['[{"petId":1,"quantity":1},5]', 'Row 2: It is 5, but must be an object.'],
  ])('reports the row of a list: %s', (body, message) => {
    expect(() => parseRows(body)).toThrow(invalidBody(message));
  });
});

describe('a body that is too large returns 413', () => {
  test.each([
    ['from one byte over the limit on', parse],
    ['counted after Base64', parseBase64],
  ])('%s', (_, read) => {
    expect(read(padded(MAX_BODY_BYTES))).toEqual({ quantity: 5 });
    expect(() => read(padded(MAX_BODY_BYTES + 1))).toThrow(anError('PAYLOAD_TOO_LARGE', 413));
  });
});

describe('the media type', () => {
  test.each(['application/json; charset=utf-8', 'application/json;charset="UTF-8"', ' application/json '])(
    '%j is JSON',
    (type) => {
      expect(parse('{"quantity":5}', { 'content-type': type })).toEqual({ quantity: 5 });
    },
  );

  test.each([
    {},
    { 'Content-Type': 'application/merge-patch+json' },
    { 'Content-Type': 'application/json; charset=iso-8859-1' },
    { 'Content-Type': 'application/json, text/plain' },
    { 'Content-Type': 'application/json', 'Content-Encoding': 'identity, br' },
  ])('%j returns 415 and the accepted type', (headers) => {
    expect(() => parse('{"quantity":5}', headers)).toThrow(anError('UNSUPPORTED_MEDIA_TYPE', 415));
    expect(() => parse('{"quantity":5}', headers)).toThrow(
      /^Content-Type is (?:missing|".+"): send application\/json\.$|: leave Content-Encoding out\.$/,
    );
  });
});

describe('a body that is not one JSON object returns 400 and what is expected', () => {
  test.each([
    ['', 'empty'],
    ['null', 'not a JSON object'],
    ['[{"quantity":5}]', 'not a JSON object'],
    ['{"quantity":5}{}', 'not valid JSON: see line 1 column 15'],
    ['{\n  "quantity": 5,\n  "a" 1\n}', 'not valid JSON: see line 3 column 7'],
    // The parser quotes this, and does not say where the fault is.
    ['{"quantity": in JSON at position 9 (line 1 column 10)', 'not valid JSON'],
  ])('%j', (body, fault) => {
    expect(() => parse(body)).toThrow(invalidBody(`The body is ${fault}.`));
  });
});

describe('an invalid field returns 400 with its name and value', () => {
  test.each([
    ['2147483648', '2147483648'],
    ['1.50', '1.50'],
    ['1e400', '1e400'],
    ['"5"', '"5"'],
    [String.raw`"\u0000\n"`, String.raw`"\u0000\n"`],
    ['null', 'null'],
    ['{"value":5.50}', '{"value":5.50}'],
    ['["5"]', '["5"]'],
    ['9'.repeat(16_000), `${'9'.repeat(40)}…`],
    [`"${'x'.repeat(16_000)}"`, `"${'x'.repeat(40)}…"`],
  ])('in the quantity (%#)', (value, found) => {
    expect(() => parse(`{"quantity":${value}}`)).toThrow(quantityFault(found));
  });

  test.each([
    ['{"status":"sold"}', 'The field "quantity" is missing. The field "status" of an entry cannot be set here.'],
    ['{"quantity":5,"__proto__":{"quantity":5}}', 'The field "__proto__" is unknown.'],
    ['{"quantity":5,"":1}', 'The field "" is unknown.'],
    [`{"quantity":5,"\\"\\n${'x'.repeat(5_000)}":1}`, `The field "\\"\\n${'x'.repeat(38)}…" is unknown.`],
    [`{"quantity":[${'1,'.repeat(8_000)}1]}`, 'The body has too many values.'],
    [`{"quantity":${'['.repeat(8_000)}${']'.repeat(8_000)}}`, 'The body has too many values.'],
  ])('in another field (%#)', (body, message) => {
    expect(() => parse(body)).toThrow(invalidBody(message));
  });
});
