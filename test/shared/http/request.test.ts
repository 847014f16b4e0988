import { describe, expect, test } from '@jest/globals';
import { bearerToken, parsePetId, quoted, readHeaders } from '../../../shared/http/request.ts';
import { deprecationHeaders } from '../../../shared/http/response-headers.ts';
import { aRequest } from '../../support/proxy-event.ts';

const requestFor = (petId: string) => aRequest({ resource: '/inventory/{petId}', pathParameters: { petId } });

test('The path parameter petId must be an int64', () => {
  expect(parsePetId(requestFor('-9223372036854775808'))).toBe('-9223372036854775808');
  for (const request of [requestFor('9223372036854775808'), requestFor('%34%32'), aRequest()]) {
    const message = `petId is "${request.pathParameters['petId'] ?? ''}", but must be an int64 in decimal, such as 42.`;
    expect(() => parsePetId(request)).toThrow(expect.objectContaining({ code: 'INVALID_PET_ID', message }));
  }
});

describe('The token of a request', () => {
  const TOKEN = 'psk_0123456789';
  const bearer = `Bearer ${TOKEN}`;

  test.each([
    ['after Bearer', { Authorization: [bearer] }, TOKEN],
    ['after bearer in lower case, with spaces around', { Authorization: [` bearer ${TOKEN} `] }, TOKEN],
    ['missing without headers', null, undefined],
    ['missing if there are two', { Authorization: [`${bearer} ${TOKEN}`] }, undefined],
    ['missing if the header is sent in two spellings', { Authorization: [bearer], authorization: [bearer] }, undefined],
  ])('is %s', (_, multiValueHeaders, token) => {
    expect(bearerToken(readHeaders({ multiValueHeaders }))).toBe(token);
  });
});

test('A deprecation has its date in Unix seconds (RFC 9745) and its sunset as an HTTP date (RFC 8594)', () => {
  const deprecatedAt = new Date('2026-11-01T00:00:00.999Z');
  const sunsetAt = new Date('2027-11-05T23:59:59Z');

  expect(deprecationHeaders({ deprecatedAt, sunsetAt, page: undefined })).toEqual({
    Deprecation: '@1793491200',
    Sunset: 'Fri, 05 Nov 2027 23:59:59 GMT',
  });
});

test.each<[unknown, string]>([
  ['a\u202eb\u007f\u{e0001}', String.raw`"a\u202eb\u007f\udb40\udc01"`],
  ['x'.repeat(41), `"${'x'.repeat(40)}…"`],
  ['x'.repeat(40), `"${'x'.repeat(40)}"`],
  [{ a: '\u2028' }, String.raw`{"a":"\u2028"}`],
])('A quoted value is at most 40 characters, all visible: %j', (value, text) => {
  expect(quoted(value)).toBe(text);
});
