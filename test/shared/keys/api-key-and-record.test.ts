import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { apiKeyFrom, generateApiKey, hashApiKey, isKeyHash, isPlausibleApiKey } from '../../../shared/keys/api-key.ts';
import { parseKeyRecord } from '../../../shared/keys/key-record.ts';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const ALPHABET = BASE62.split('');
const PREFIX = 'psk_';
const KEY = apiKeyFrom('0123456789abcdefghijABCDEFGHIJ0123456789');
const base62 = (length: number) =>
  fc
    .array(fc.constantFrom(...ALPHABET), { minLength: length, maxLength: length })
    .map((characters) => characters.join(''));

const withCharacter = (text: string, position: number, character: string) =>
  text.slice(0, position) + character + text.slice(position + 1);

describe('our keys', () => {
  test('are psk_, 40 base62 characters of the whole alphabet, and 6 of checksum', () => {
    const keys = Array.from({ length: 200 }, () => generateApiKey());
    const random = keys.map((key) => key.slice(PREFIX.length, -6)).join('');

    for (const key of keys) expect(key).toMatch(/^psk_[0-9A-Za-z]{46}$/);
    expect([...new Set(random)].toSorted().join('')).toBe(BASE62);
  });

  // Computed outside this code: a change of the checksum would make every issued key invalid.
  test.each([
    'psk_00000000000000000000000000000000000000002kxiX5',
    'psk_0123456789abcdefghijABCDEFGHIJ01234567891Lrbp4',
  ])('%s keeps its checksum', (key) => {
    expect(apiKeyFrom(key.slice(PREFIX.length, -6))).toBe(key);
  });

  test('have a checksum that holds, and holds for no typo', () => {
    fc.assert(
      fc.property(base62(40), fc.nat({ max: 45 }), fc.constantFrom(...ALPHABET), (random, index, character) => {
        const key = apiKeyFrom(random);
        const typo = withCharacter(key, PREFIX.length + index, character);
        expect(isPlausibleApiKey(key)).toBe(true);
        expect(isPlausibleApiKey(typo)).toBe(typo === key);
      }),
    );
  });
});

describe('a bearer token', () => {
  test.each(['a'.repeat(128), 'abcXYZ019-._~+/xxxxx', 'zaCELgL0imfnc8mVLWwsAawjYr4Rx-Af50DDqtlx', 'a'.repeat(63)])(
    'may be a key that was made in the AWS console: %s',
    (token) => {
      expect(isPlausibleApiKey(token)).toBe(true);
    },
  );

  test.each([
    ['empty', ''],
    ['129 characters', 'a'.repeat(129)],
    ['a space inside', `aaaaaaaaaa ${'a'.repeat(20)}`],
    ['a stored hash', hashApiKey(KEY)],
    ['a stored hash in upper case', hashApiKey(KEY).toUpperCase()],
    ['one of ours cut short', KEY.slice(0, -1)],
  ])('is no key: %s', (_, token) => {
    expect(isPlausibleApiKey(token)).toBe(false);
  });
});

test('The hash of a key is its SHA-256 in 64 hex digits, and nothing else is taken for one', () => {
  const hash = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';

  expect(hashApiKey('abc')).toBe(hash);
  expect(isKeyHash(hash)).toBe(true);
  for (const text of [`${hash}a`, hash.toUpperCase(), `${hash}\n`]) expect(isKeyHash(text)).toBe(false);
});

const number = (value: string) => ({ value });

/** An item of the keys table as the document client hands it over: numbers are wrapped. */
const item = {
  keyHash: 'ab'.repeat(32),
  keyId: 'k3y1d',
  lineage: 'k3y1d',
  name: 'acme',
  plan: 'free',
  perMinute: number('60'),
  perDay: number('1000'),
  enabled: true,
  revoked: false,
  createdAt: number('0'),
  interimUntil: number('0'),
  revision: number('1'),
  usageIdentifier: 'hash',
  currentMinute: number('29166667'),
  minuteUsed: number('3'),
  dayUsed: number('40'),
  minuteRefused: number('0'),
  suspendedUntil: number('0'),
  suspendedByAdmin: false,
};

describe('an item of the keys table', () => {
  test('is read with its numbers as numbers', () => {
    expect(parseKeyRecord(item)).toEqual({
      ...item,
      perMinute: 60,
      perDay: 1_000,
      currentMinute: 29_166_667,
      minuteUsed: 3,
      dayUsed: 40,
      minuteRefused: 0,
      suspendedUntil: 0,
      createdAt: 0,
      interimUntil: 0,
      revision: 1,
    });
  });

  test.each([
    ['no item', undefined],
    ['no word on whether it is revoked', { ...item, revoked: undefined }],
    ['a limit that lost digits on its way', { ...item, perDay: number('9007199254740993') }],
    ['a plan that does not exist', { ...item, plan: 'gold' }],
  ])('is not one with %s', (_, broken) => {
    expect(() => parseKeyRecord(broken)).toThrow('Invalid');
  });
});
