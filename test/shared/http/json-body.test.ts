import { describe, expect, test } from '@jest/globals';
import { INT64_RULE } from '../../../shared/contract/int64.ts';
import { inventoryUpdateSchema, inventoryUpdatesSchema } from '../../../shared/contract/inventory.ts';
import { MAX_BODY_BYTES, parseJsonBody } from '../../../shared/http/json-body.ts';
import { aRequest } from '../../support/proxy-event.ts';

const EXAMPLE = '{"quantity":5}';

const TAG_RULE = 'must be an ETag from a response, such as "mX0aVbq3Zk1T" with its quotes';

const JSON_TYPE = { 'Content-Type': 'application/json' };

const parse = (body: string, headers: Record<string, string> = JSON_TYPE, isBase64Encoded = false) =>
  parseJsonBody(aRequest({ headers, body, isBase64Encoded }), inventoryUpdateSchema, EXAMPLE);

const invalidBody = (fault: string) =>
  expect.objectContaining({ code: 'INVALID_BODY', message: `${fault} Send JSON such as ${EXAMPLE}.` });

describe('A JSON body', () => {
  test.each([
    ['the smallest quantity', '{"quantity":0}', 0],
    ['the largest quantity', '{"quantity":2147483647}', 2_147_483_647],
    ['an integer with a fraction and an exponent', '{"quantity":1.25e2}', 125],
    ['an integer with a negative exponent', '{"quantity":50e-1}', 5],
    ['a zero with any exponent', '{"quantity":0.0e-400}', 0],
    ['an escaped field name', ' {\r\n\t"\\u0071uantity" : 5 } ', 5],
    ['a byte order mark', '\uFEFF{"quantity":5}', 5],
  ])('may have %s', (_, body, quantity) => {
    expect(parse(body)).toEqual({ quantity });
  });

  test.each<[found: string, value?: string]>([
    ['1e-400'],
    ['6.9999999999999999999'],
    ['12e-1'],
    ['2147483648'],
    ['1.50'],
    ['1e400'],
    ['"5"'],
    [String.raw`"\u0000\n"`],
    ['null'],
    ['{"value":5.50}'],
    ['["5"]'],
    [`${'9'.repeat(40)}…`, '9'.repeat(16_000)],
    [`"${'x'.repeat(40)}…"`, `"${'x'.repeat(16_000)}"`],
  ])('with the quantity %s is 400, and the message has it as it was sent', (found, value = found) => {
    const fault = `The field "quantity" is ${found}, but must be an integer from 0 to 2147483647.`;
    expect(() => parse(`{"quantity":${value}}`)).toThrow(invalidBody(fault));
  });

  test.each([
    ['The body is empty.', ''],
    ['The body is not a JSON object.', 'null'],
    ['The body is not a JSON object.', '[5]'],
    ['The body is not valid JSON: see line 1 column 15.', '{"quantity":5}{}'],
    ['The body is not valid JSON: see line 3 column 7.', '{\n  "quantity": 5,\n  "a" 1\n}'],
    // The parser quotes this, and does not say where the fault is.
    ['The body is not valid JSON.', '{"quantity": in JSON at position 9 (line 1 column 10)'],
    [
      'The field "quantity" is missing. The field "status" of an entry cannot be set here: only admins set it.',
      '{"status":"sold"}',
    ],
    ['The field "petId" of an entry cannot be set here: it is in the path.', '{"quantity":5,"petId":1}'],
    ['The field "__proto__" is unknown.', '{"quantity":5,"__proto__":{"quantity":5}}'],
    ['The field "" is unknown.', '{"quantity":5,"":1}'],
    [`The field "\\"\\n${'x'.repeat(38)}…" is unknown.`, `{"quantity":5,"\\"\\n${'x'.repeat(5_000)}":1}`],
    ['The body has too many values.', `{"quantity":[${'1,'.repeat(8_000)}1]}`],
    ['The body has too many values.', `{"quantity":${'['.repeat(8_000)}${']'.repeat(8_000)}}`],
    ['The field "quantity" is a duplicate.', '{"quantity":5 , "\\u0071uantity" :6}'],
    ['The field "b" is a duplicate.', '{"quantity":5,"a":[{"b":1,"c":"{","b":2}]}'],
    [String.raw`The field "a\"" is a duplicate.`, '{"a\\"":1,"a\\"":2}'],
    // The same name in another object, or as a text, is no duplicate.
    ['The field "a" is unknown.', '{"a":{"b":1},"c":[{"b":1},{"b":2}],"d":"\\"a\\":","quantity":5}'],
  ])('is 400 with the message: %s', (message, body) => {
    expect(() => parse(body)).toThrow(invalidBody(message));
  });

  const one = '{"petId":1,"quantity":1}';
  const manyFaults = [1, 2, 3].map((row) => `Row ${row}: It is 1, but must be an object.`).join(' ');

  test.each([
    ['Row 2: The field "c" is a duplicate.', '[{"petId":{"a":[1,2]},"quantity":1},[{"b":1},{"c":1,"c":2}]]'],
    ['Row 1: The field "" is unknown.', '[{"petId":1,"quantity":1,"":1}]'],
    ['Row 2: It is 5, but must be an object.', `[${one},5]`],
    ['Row 2: It has the petId of an earlier row.', `[${one},${one}]`],
    [`Row 1: The field "petId" is ${2n ** 63n}, but ${INT64_RULE}.`, `[{"petId":${2n ** 63n},"quantity":1}]`],
    [`Row 1: The field "ifMatch" is "v1", but ${TAG_RULE}.`, '[{"petId":1,"quantity":1,"ifMatch":"v1"}]'],
    ['The body must be an array of 1 to 25 updates.', one],
    ['The body must be an array of 1 to 25 updates.', `[${'{},'.repeat(25)}{}]`],
    ['The body must be an array of 1 to 25 updates.', `[${'{},'.repeat(5_000)}{}]`],
    [`${manyFaults} There are more faults.`, '[1,1,1,1]'],
  ])('with updates is 400 with the message: %s', (message, body) => {
    const parseRows = () => parseJsonBody(aRequest({ headers: JSON_TYPE, body }), inventoryUpdatesSchema, EXAMPLE);
    expect(parseRows).toThrow(invalidBody(message));
  });

  test.each([
    ['received', false, (text: string) => text],
    ['counted after Base64', true, (text: string) => Buffer.from(text).toString('base64')],
  ])('is 413 from one byte over the limit on, as %s', (_, isBase64Encoded, encode) => {
    const padded = (bytes: number) => encode(EXAMPLE.padEnd(bytes, ' '));

    expect(parse(padded(MAX_BODY_BYTES), JSON_TYPE, isBase64Encoded)).toEqual({ quantity: 5 });
    expect(() => parse(padded(MAX_BODY_BYTES + 1), JSON_TYPE, isBase64Encoded)).toThrow(
      expect.objectContaining({ code: 'PAYLOAD_TOO_LARGE' }),
    );
  });
});

describe('The media type', () => {
  test.each([
    ' application/json ',
    'application/json;charset="UTF-8"',
    'Application/JSON ; profile="a;b" ; charset=utf8;',
  ])('%j is JSON', (type) => {
    expect(parse(EXAMPLE, { 'Content-Type': type })).toEqual({ quantity: 5 });
  });

  test.each([
    {},
    { 'Content-Type': 'application/merge-patch+json' },
    { 'Content-Type': 'application/json; charset=iso-8859-1' },
    { 'Content-Type': 'application/json; a=b; charset="utf-16"' },
    { 'Content-Type': 'application/json, text/plain' },
    { ...JSON_TYPE, 'Content-Encoding': 'identity, br' },
  ])('%j is 415, and the message says what to send', (headers) => {
    const rule =
      /^Content-Type is (?:missing|".+"): send application\/json, in UTF-8\.$|: leave Content-Encoding out\.$/;
    const unsupported = { code: 'UNSUPPORTED_MEDIA_TYPE', message: expect.stringMatching(rule) };
    expect(() => parse(EXAMPLE, headers)).toThrow(expect.objectContaining(unsupported));
  });
});
