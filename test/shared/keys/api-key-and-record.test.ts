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
  test('are psk_, 40 base62 characters and 6 of checksum', () => {
    expect(generateApiKey()).toMatch(/^psk_[0-9A-Za-z]{46}$/);
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
    ['128 characters', 'a'.repeat(128)],
    ['every character of a bearer token', 'abcXYZ019-._~+/xxxxx'],
    ['a value that API Gateway generated', 'zaCELgL0imfnc8mVLWwsAawjYr4Rx-Af50DDqtlx'],
    ['63 hex digits', 'a'.repeat(63)],
  ])('may be one made in the AWS console: %s', (_, token) => {
    expect(isPlausibleApiKey(token)).toBe(true);
  });

  test.each([
    ['empty', ''],
    ['129 characters', 'a'.repeat(129)],
    ['a space inside', `aaaaaaaaaa ${'a'.repeat(20)}`],
    ['a stored hash', hashApiKey(KEY)],
    ['a stored hash in upper case', hashApiKey(KEY).toUpperCase()],
    ['one of ours cut short', KEY.slice(0, -1)],
  ])('is not: %s', (_, token) => {
    expect(isPlausibleApiKey(token)).toBe(false);
  });
});

describe('the hash of a key', () => {
  test('is its SHA-256 in 64 hex digits', () => {
    expect(hashApiKey('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  });

  test.each([
    ['65 hex digits', 'a'.repeat(65)],
    ['a hash in upper case, which no key is stored under', hashApiKey(KEY).toUpperCase()],
    ['a hash and a line end', `${hashApiKey(KEY)}\n`],
  ])('is not taken for one: %s', (_, text) => {
    expect(isKeyHash(text)).toBe(false);
  });
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

  test('may have an end', () => {
    expect(parseKeyRecord({ ...item, expiresAt: number('1750000000000') }).expiresAt).toBe(1_750_000_000_000);
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
