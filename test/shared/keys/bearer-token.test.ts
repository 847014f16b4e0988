import { describe, expect, test } from '@jest/globals';
import { bearerToken } from '../../../shared/keys/bearer-token.ts';

const TOKEN = 'psk_0123456789';

describe('Authorization: Bearer <API_KEY> (spec §5)', () => {
  test.each([
    ['as the spec writes it', { Authorization: [`Bearer ${TOKEN}`] }],
    ['with the header name in lower case', { authorization: [`Bearer ${TOKEN}`] }],
    ['with the header name in upper case', { AUTHORIZATION: [`Bearer ${TOKEN}`] }],
    ['with the scheme in lower case', { Authorization: [`bearer ${TOKEN}`] }],
    ['with the scheme in upper case', { Authorization: [`BEARER ${TOKEN}`] }],
    ['with several spaces', { Authorization: [`Bearer   ${TOKEN}`] }],
    ['with spaces around the value', { Authorization: [`  Bearer ${TOKEN} `] }],
    ['among other headers', { Host: ['example.com'], Authorization: [`Bearer ${TOKEN}`], Accept: ['*/*', 'a/b'] }],
  ])('the token is read %s', (_, headers) => {
    expect(bearerToken(headers)).toBe(TOKEN);
  });

  test.each([
    ['there are no headers', null],
    ['there is no such header', { Host: ['example.com'] }],
    ['the header has no value', { Authorization: undefined }],
    ['the header has an empty list of values', { Authorization: [] }],
    ['the header is empty', { Authorization: [''] }],
    ['the scheme stands alone', { Authorization: ['Bearer'] }],
    ['the scheme is followed by a space only', { Authorization: ['Bearer '] }],
    ['the scheme is missing', { Authorization: [TOKEN] }],
    ['the scheme is Basic', { Authorization: ['Basic dXNlcjpwYXNz'] }],
    ['another word begins like the scheme', { Authorization: [`BearerX ${TOKEN}`] }],
    ['the space is missing', { Authorization: [`Bearer${TOKEN}`] }],
    ['there are two tokens', { Authorization: [`Bearer ${TOKEN} ${TOKEN}`] }],
    ['the header is sent twice', { Authorization: [`Bearer ${TOKEN}`, `Bearer ${TOKEN}`] }],
    ['the header is sent in two spellings', { Authorization: [`Bearer ${TOKEN}`], authorization: [`Bearer ${TOKEN}`] }],
    ['the key is in another header', { 'X-Api-Key': [TOKEN] }],
  ])('there is no token where %s', (_, headers) => {
    expect(bearerToken(headers)).toBeUndefined();
  });
});
