import { describe, expect, test } from '@jest/globals';
import { bearerToken, headerValues, parsePetId, readHeaders } from '../../../shared/http/request.ts';
import { aRequest } from '../../support/proxy-event.ts';

describe('a request header', () => {
  test.each(['If-Match', 'if-match', 'IF-MATCH', 'iF-mAtCh'])('sent as %s is found', (name) => {
    expect(headerValues(aRequest({ headers: { [name]: '"a"' } }).headers, 'if-match')).toEqual(['"a"']);
  });

  test('that was sent several times has all its values, in their order', () => {
    expect(headerValues(aRequest({ headers: { Accept: ['b', 'a', 'b'] } }).headers, 'accept')).toEqual(['b', 'a', 'b']);
  });

  test.each(['if-match', 'constructor', '__proto__', ''])('%j that was not sent has none', (name) => {
    expect(headerValues(aRequest().headers, name)).toEqual([]);
  });
});

const requestFor = (petId: string) => aRequest({ resource: '/inventory/{petId}', pathParameters: { petId } });

describe('the path parameter petId (spec §4.2)', () => {
  test('is an int64, or a 400', () => {
    expect(parsePetId(requestFor('-9223372036854775808'))).toBe('-9223372036854775808');
    for (const request of [requestFor('9223372036854775808'), requestFor('%34%32'), aRequest()]) {
      expect(() => parsePetId(request)).toThrow(expect.objectContaining({ code: 'INVALID_PET_ID', status: 400 }));
    }
  });
});

const TOKEN = 'psk_0123456789';

describe('Authorization: Bearer <API_KEY> (spec §5)', () => {
  test.each([
    ['as the spec writes it', { Authorization: [`Bearer ${TOKEN}`] }],
    ['with the header name in lower case', { authorization: [`Bearer ${TOKEN}`] }],
    ['with the scheme in lower case', { Authorization: [`bearer ${TOKEN}`] }],
    ['with several spaces', { Authorization: [`Bearer   ${TOKEN}`] }],
    ['with spaces around the value', { Authorization: [`  Bearer ${TOKEN} `] }],
  ])('the token is read %s', (_, headers) => {
    expect(bearerToken(readHeaders({ multiValueHeaders: headers }))).toBe(TOKEN);
  });

  test.each([
    ['there are no headers', null],
    ['there is no such header', { Host: ['example.com'] }],
    ['the scheme is followed by a space only', { Authorization: ['Bearer '] }],
    ['the scheme is missing', { Authorization: [TOKEN] }],
    ['the space is missing', { Authorization: [`Bearer${TOKEN}`] }],
    ['there are two tokens', { Authorization: [`Bearer ${TOKEN} ${TOKEN}`] }],
    ['the header is sent twice', { Authorization: [`Bearer ${TOKEN}`, `Bearer ${TOKEN}`] }],
    ['the header is sent in two spellings', { Authorization: [`Bearer ${TOKEN}`], authorization: [`Bearer ${TOKEN}`] }],
    ['the key is in another header', { 'X-Api-Key': [TOKEN] }],
  ])('there is no token where %s', (_, headers) => {
    expect(bearerToken(readHeaders({ multiValueHeaders: headers }))).toBeUndefined();
  });
});
