import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { parseKeyRecord } from '../../../shared/keys/key-record.ts';
import { generateToken, parseToken, tokenFrom } from '../../../shared/keys/token.ts';
import { aKey, parsed } from '../../support/tables.ts';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const ALPHABET = BASE62.split('');
const PREFIX = 'psk_';
const HANDLE = '0123456789abcdef';
const TOKEN = tokenFrom(`${HANDLE}ghijABCDEFGHIJ0123456789`);
const RECORD_ID = `petstoreinventory${HANDLE}`;
const base62 = (length: number) =>
  fc
    .array(fc.constantFrom(...ALPHABET), { minLength: length, maxLength: length })
    .map((characters) => characters.join(''));

const withCharacter = (text: string, position: number, character: string) =>
  text.slice(0, position) + character + text.slice(position + 1);

const sha256 = (text: string) => createHash('sha256').update(text);

describe('our tokens', () => {
  test('have psk_, 40 base62 characters and a checksum of 6', () => {
    const tokens = Array.from({ length: 200 }, () => generateToken());
    const random = tokens.map((token) => token.slice(PREFIX.length, -6)).join('');

    for (const token of tokens) expect(token).toMatch(/^psk_[0-9A-Za-z]{46}$/);
    expect([...new Set(random)].toSorted().join('')).toBe(BASE62);
  });

  // Computed outside this code: a change of the checksum would make every issued token invalid.
  test.each([
    'psk_00000000000000000000000000000000000000002kxiX5',
    'psk_0123456789abcdefghijABCDEFGHIJ01234567891Lrbp4',
  ])('%s keeps its checksum', (token) => {
    expect(tokenFrom(token.slice(PREFIX.length, -6))).toBe(token);
  });

  test('have a checksum that detects typos', () => {
    fc.assert(
      fc.property(base62(40), fc.nat({ max: 45 }), fc.constantFrom(...ALPHABET), (random, index, character) => {
        const token = tokenFrom(random);
        const typo = withCharacter(token, PREFIX.length + index, character);
        expect(parseToken(token)).toBeDefined();
        expect(parseToken(typo) !== undefined).toBe(typo === token);
      }),
    );
  });

  test('identify their key by the handle, and prove themselves by the hash of the whole', () => {
    expect(parseToken(TOKEN)).toEqual({
      recordId: RECORD_ID,
      hash: sha256(TOKEN).digest('base64url'),
      usageIdentifier: RECORD_ID,
    });
  });

  test('of one key share only its handle', () => {
    const others = [generateToken(RECORD_ID), generateToken(RECORD_ID)].map((text) => parsed(text));

    expect(others.map(({ recordId }) => recordId)).toEqual([RECORD_ID, RECORD_ID]);
    expect(new Set([parsed(TOKEN), ...others].map(({ hash }) => hash)).size).toBe(3);
    expect(parsed(generateToken()).recordId).not.toBe(RECORD_ID);
  });
});

describe('a bearer token', () => {
  test.each(['a'.repeat(128), 'abcXYZ019-._~+/xxxxx', 'zaCELgL0imfnc8mVLWwsAawjYr4Rx-Af50DDqtlx', 'a'.repeat(63)])(
    'may be the value of a key that was made in the AWS console: %s',
    (value) => {
      expect(parseToken(value)).toEqual({
        recordId: sha256(value).digest('hex'),
        hash: sha256(value).digest('base64url'),
        usageIdentifier: value,
      });
    },
  );

  const hash = sha256(TOKEN).digest('hex');

  test.each([
    ['empty', ''],
    ['129 characters', 'a'.repeat(129)],
    ['19 characters', 'a'.repeat(19)],
    ['a space inside', `aaaaaaaaaa ${'a'.repeat(20)}`],
    ['a line end behind it', `${'a'.repeat(30)}\n`],
    ['the value that API Gateway has of one of our keys', RECORD_ID],
    ['64 hex digits, as internal usage plans have', hash],
    ['the same in upper case', hash.toUpperCase()],
    ['one of ours cut short', TOKEN.slice(0, -1)],
    ['one of ours with more behind it', `${TOKEN}0`],
    ['one of ours with a character that is not base62', tokenFrom(`${'-'.repeat(16)}${'a'.repeat(24)}`)],
  ])('grants no access: %s', (_, text) => {
    expect(parseToken(text)).toBeUndefined();
  });
});

const item = aKey();
const withTokens = (differences: object) => ({
  ...item,
  tokens: Object.fromEntries(Object.entries(item.tokens).map(([hash, token]) => [hash, { ...token, ...differences }])),
});

test.each<[string, unknown, string]>([
  ['no item', undefined, 'Invalid'],
  ['no attribute `revoked`', { ...item, revoked: undefined }, 'Invalid'],
  ['a counter that is no whole number', { ...item, minuteRefused: 0.5 }, 'Invalid'],
  ['a limit with lost digits', { ...item, perDay: { value: '9007199254740993' } }, 'Invalid'],
  ['a token without an end', withTokens({ until: undefined }), 'Invalid'],
  ['a plan of a later release', { ...item, plan: 'gold' }, 'Unknown plan "gold"'],
])('a record is unreadable with %s', (_, broken, message) => {
  expect(() => parseKeyRecord(broken, 'keys')).toThrow(message);
});

test('an unknown access of a later release is kept', () => {
  const later = withTokens({ access: 'append' });
  expect(parseKeyRecord(later, 'keys')).toEqual(later);
});

test('a record above the current maximum limits keeps working', () => {
  const agreed = aKey({ plan: 'enterprise', perMinute: 5_000, perDay: 999_999_999_999 });
  expect(parseKeyRecord(agreed, 'keys')).toEqual(agreed);
});
