import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { apiKeyFrom, generateApiKey, hashApiKey, isKeyHash, isPlausibleApiKey } from '../../../shared/keys/api-key.ts';

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
  test('are psk_, 40 base62 characters and 6 of checksum', () => {
    expect(generateApiKey()).toMatch(/^psk_[0-9A-Za-z]{46}$/);
  });

  test('are plausible', () => {
    expect(isPlausibleApiKey(generateApiKey())).toBe(true);
  });

  test('are all different', () => {
    const keys = Array.from({ length: 1_000 }, generateApiKey);

    expect(new Set(keys).size).toBe(1_000);
  });

  test('use all of the alphabet', () => {
    const characters = Array.from({ length: 200 }, () => generateApiKey().slice(PREFIX.length, -6)).join('');

    expect([...new Set(characters.split(''))].toSorted().join('')).toBe(BASE62);
  });

  // Computed outside this code: a change of the checksum would make every issued key invalid.
  test.each([
    'psk_00000000000000000000000000000000000000002kxiX5',
    'psk_0123456789abcdefghijABCDEFGHIJ01234567891Lrbp4',
  ])('%s keeps its checksum', (key) => {
    expect(apiKeyFrom(key.slice(PREFIX.length, -6))).toBe(key);
  });
});

describe('the checksum', () => {
  test('catches every change of one character after the prefix', () => {
    const missed = Array.from({ length: KEY.length - PREFIX.length }, (_, index) => PREFIX.length + index).flatMap(
      (position) =>
        [...ALPHABET, '-', '_']
          .map((character) => withCharacter(KEY, position, character))
          .filter((typo) => typo !== KEY && isPlausibleApiKey(typo)),
    );

    expect(missed).toEqual([]);
  });

  test('catches every swap of two neighbours', () => {
    const swaps = Array.from({ length: KEY.length - PREFIX.length - 1 }, (_, index) => {
      const position = PREFIX.length + index;
      return KEY.slice(0, position) + KEY.charAt(position + 1) + KEY.charAt(position) + KEY.slice(position + 2);
    });

    expect(swaps.filter((swap) => swap !== KEY && isPlausibleApiKey(swap))).toEqual([]);
  });

  test('holds for any key, and for no key with a typo', () => {
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

describe('a plausible key', () => {
  test.each([
    ['20 characters', 'a'.repeat(20)],
    ['128 characters', 'a'.repeat(128)],
    ['20 characters, the last two of them padding', `${'a'.repeat(18)}==`],
    ['128 characters, the last two of them padding', `${'a'.repeat(126)}==`],
    ['every character of a bearer token', 'abcXYZ019-._~+/xxxxx'],
    ['a value that API Gateway generated', 'zaCELgL0imfnc8mVLWwsAawjYr4Rx-Af50DDqtlx'],
    ['63 hex digits', 'a'.repeat(63)],
    ['65 hex digits', 'a'.repeat(65)],
    ['64 characters that are not all hex', `${'a'.repeat(63)}g`],
  ])('may be one made in the AWS console: %s', (_, token) => {
    expect(isPlausibleApiKey(token)).toBe(true);
  });

  test.each([
    ['empty', ''],
    ['19 characters', 'a'.repeat(19)],
    ['129 characters', 'a'.repeat(129)],
    ['129 characters with padding', `${'a'.repeat(127)}==`],
    ['padding in the middle', `aaaaaaaaaa==${'a'.repeat(20)}`],
    ['three characters of padding', `${'a'.repeat(20)}===`],
    ['a space inside', `aaaaaaaaaa ${'a'.repeat(20)}`],
    ['a line end', `${'a'.repeat(30)}\n`],
    ['letters beyond ASCII', 'ä'.repeat(30)],
    ['a stored hash', hashApiKey(KEY)],
    ['a stored hash in upper case', hashApiKey(KEY).toUpperCase()],
    ['our prefix alone', PREFIX],
    ['our prefix and something else', `${PREFIX}${'a'.repeat(46)}`],
    ['one of ours cut short', KEY.slice(0, -1)],
    ['one of ours with a character more', `${KEY}a`],
  ])('is not: %s', (_, token) => {
    expect(isPlausibleApiKey(token)).toBe(false);
  });
});

describe('the hash of a key', () => {
  test('is its SHA-256 in 64 hex digits', () => {
    expect(hashApiKey('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  });

  test.each([
    ['the hash of a key', hashApiKey(KEY)],
    ['digits only', '0'.repeat(64)],
    ['letters only', 'f'.repeat(64)],
  ])('is known as one: %s', (_, text) => {
    expect(isKeyHash(text)).toBe(true);
  });

  test.each([
    ['nothing', ''],
    ['63 hex digits', 'a'.repeat(63)],
    ['65 hex digits', 'a'.repeat(65)],
    ['a hash in upper case, which no key is stored under', hashApiKey(KEY).toUpperCase()],
    ['64 characters that are not all hex', `${'a'.repeat(63)}g`],
    ['a hash and a line end', `${hashApiKey(KEY)}\n`],
    ['a space and a hash', ` ${hashApiKey(KEY)}`],
    ['two hashes', hashApiKey(KEY).repeat(2)],
    ['a key', KEY],
  ])('is not taken for one: %s', (_, text) => {
    expect(isKeyHash(text)).toBe(false);
  });

  test('is never plausible as a key, in any letters', () => {
    const hex = fc.stringMatching(/^[0-9a-fA-F]{64}$/);

    fc.assert(fc.property(hex, (text) => expect(isPlausibleApiKey(text)).toBe(false)));
  });
});
