import { describe, expect, test } from '@jest/globals';
import { bearerToken, headerValues, parsePetId, quoted, readHeaders } from '../../../shared/http/request.ts';
import { deprecationHeaders } from '../../../shared/http/response-headers.ts';
import { aRequest } from '../../support/proxy-event.ts';

describe('a request header', () => {
  test('that was sent several times, in any case, has all its values in order', () => {
    const { headers } = aRequest({ headers: { Accept: ['b', 'a', 'b'] } });
    expect(headerValues(headers, 'accept')).toEqual(['b', 'a', 'b']);
  });

  test.each(['if-match', '__proto__'])('%j that was not sent has none', (name) => {
    expect(headerValues(aRequest().headers, name)).toEqual([]);
  });
});

const requestFor = (petId: string) => aRequest({ resource: '/inventory/{petId}', pathParameters: { petId } });

test('a path parameter petId that is no int64 returns 400', () => {
  expect(parsePetId(requestFor('-9223372036854775808'))).toBe('-9223372036854775808');
  for (const request of [requestFor('9223372036854775808'), requestFor('%34%32'), aRequest()]) {
    const message = `petId is "${request.pathParameters['petId'] ?? ''}", but must be an int64 in decimal, such as 42.`;
    expect(() => parsePetId(request)).toThrow(
      expect.objectContaining({ code: 'INVALID_PET_ID', status: 400, message }),
    );
  }
});

const TOKEN = 'psk_0123456789';

describe('Authorization: Bearer <API_KEY>', () => {
  test.each([
    ['as it is documented', { Authorization: [`Bearer ${TOKEN}`] }],
    ['with the scheme in lower case and spaces around', { Authorization: [` bearer ${TOKEN} `] }],
  ])('the token is read %s', (_, headers) => {
    expect(bearerToken(readHeaders({ multiValueHeaders: headers }))).toBe(TOKEN);
  });

  test.each([
    ['there are no headers', null],
    ['the scheme is followed by a space only', { Authorization: ['Bearer '] }],
    ['the scheme is missing', { Authorization: [TOKEN] }],
    ['there are two tokens', { Authorization: [`Bearer ${TOKEN} ${TOKEN}`] }],
    ['the header is sent twice', { Authorization: [`Bearer ${TOKEN}`, `Bearer ${TOKEN}`] }],
    ['the header is sent in two spellings', { Authorization: [`Bearer ${TOKEN}`], authorization: [`Bearer ${TOKEN}`] }],
  ])('there is no token if %s', (_, headers) => {
    expect(bearerToken(readHeaders({ multiValueHeaders: headers }))).toBeUndefined();
  });
});

test('a deprecated operation has Deprecation (RFC 9745), Sunset (RFC 8594) and Link (RFC 8288)', () => {
  const headers = deprecationHeaders({
    deprecatedAt: new Date('2026-11-01T00:00:00.999Z'),
    sunsetAt: new Date('2027-11-05T23:59:59Z'),
    page: 'https://docs.example.com',
  });

  expect(headers).toEqual({
    Deprecation: '@1793491200',
    Sunset: 'Fri, 05 Nov 2027 23:59:59 GMT',
    Link:
      '<https://docs.example.com/#description/deprecations>; rel="deprecation"; type="text/html", ' +
      '<https://docs.example.com/#description/deprecations>; rel="sunset"; type="text/html"',
  });
});

test.each<[unknown, string]>([
  ['a\u202eb\u007f\u{e0001}', String.raw`"a\u202eb\u007f\udb40\udc01"`],
  ['x'.repeat(41), `"${'x'.repeat(40)}…"`],
  ['x'.repeat(40), `"${'x'.repeat(40)}"`],
  [{ a: '\u2028' }, String.raw`{"a":"\u2028"}`],
])('quoted input escapes invisible characters: %j', (value, text) => {
  expect(quoted(value)).toBe(text);
});
