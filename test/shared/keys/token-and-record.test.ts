import { createHash } from 'node:crypto';
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { tokenEntry } from '../../../shared/key-registry/key-tokens.ts';
import {
  MAX_LABEL_BYTES,
  MAX_NAME_BYTES,
  MAX_TOKENS_WITH_GRACE,
  parseKeyRecord,
} from '../../../shared/keys/key-record.ts';
import { generateToken, isIssued, lastCharacters, parseToken, tokenFrom } from '../../../shared/keys/token.ts';
import { minuteOf } from '../../../shared/keys/window.ts';
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
  test('are psk_, 40 base62 characters of the whole alphabet, and 6 of checksum', () => {
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

  test('have a checksum that holds, and holds for no typo', () => {
    fc.assert(
      fc.property(base62(40), fc.nat({ max: 45 }), fc.constantFrom(...ALPHABET), (random, index, character) => {
        const token = tokenFrom(random);
        const typo = withCharacter(token, PREFIX.length + index, character);
        expect(parseToken(token)).toBeDefined();
        expect(parseToken(typo) !== undefined).toBe(typo === token);
      }),
    );
  });

  test('find the item of their key by the first 16 characters, the handle, and prove themselves by the hash of the whole', () => {
    expect(parseToken(TOKEN)).toEqual({
      recordId: RECORD_ID,
      hash: sha256(TOKEN).digest('base64url'),
      usageIdentifier: RECORD_ID,
    });
  });

  test('of one key have its handle, and nothing else in common', () => {
    const others = [generateToken(RECORD_ID), generateToken(RECORD_ID)].map((text) => parsed(text));

    expect(others.map(({ recordId }) => recordId)).toEqual([RECORD_ID, RECORD_ID]);
    expect(new Set([parsed(TOKEN), ...others].map(({ hash }) => hash)).size).toBe(3);
    expect(parsed(generateToken()).recordId).not.toBe(RECORD_ID);
  });

  test('are known again by their last four characters', () => {
    expect(lastCharacters(TOKEN)).toBe(TOKEN.slice(46));
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
  ])('opens nothing: %s', (_, text) => {
    expect(parseToken(text)).toBeUndefined();
  });
});

test('A value that the admin command gave is told from any other by its form', () => {
  expect(isIssued(parsed(generateToken()).recordId)).toBe(true);
  for (const text of [`${RECORD_ID}0`, RECORD_ID.slice(0, -1), `${RECORD_ID.slice(0, -1)}-`, `x${RECORD_ID.slice(1)}`])
    expect(isIssued(text)).toBe(false);
});

const number = (value: string) => ({ value });

/** An item of the keys table as the document client hands it over: numbers are wrapped. */
const item = {
  recordId: RECORD_ID,
  keyId: 'k3y1d',
  name: 'acme',
  plan: 'free',
  perMinute: number('60'),
  perDay: number('1000'),
  enabled: true,
  revoked: false,
  createdAt: number('0'),
  tokens: {
    hash: {
      until: number('8640000000000000'),
      access: 'read',
      label: 'main',
      last: '89Ab',
      since: number('1750000000000'),
      pending: true,
    },
  },
  busy: { by: 'move', since: number('1750000000000'), id: 'aB3x' },
  interimUntil: number('0'),
  revision: number('1'),
  currentMinute: number('29166667'),
  minuteUsed: number('3'),
  dayUsed: number('40'),
  minuteRefused: number('0'),
  suspendedUntil: number('0'),
  suspendedByAdmin: false,
};

const withTokens = (differences: object) => ({ ...item, tokens: { hash: { ...item.tokens.hash, ...differences } } });

describe('an item of the keys table', () => {
  test('is read with its numbers as numbers', () => {
    expect(parseKeyRecord(item)).toEqual({
      ...item,
      perMinute: 60,
      perDay: 1_000,
      tokens: { hash: { ...item.tokens.hash, until: 8_640_000_000_000_000, since: 1_750_000_000_000 } },
      busy: { by: 'move', since: 1_750_000_000_000, id: 'aB3x' },
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
    ['no tokens', { ...item, tokens: undefined }],
    ['a token without an end', withTokens({ until: undefined })],
    ['a token with an access that does not exist', withTokens({ access: 'write' })],
  ])('is not one with %s', (_, broken) => {
    expect(() => parseKeyRecord(broken)).toThrow('Invalid');
  });
});

/**
 * Bytes of an item as DynamoDB counts them
 * (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html): names and texts in
 * UTF-8, a number one byte for two significant digits and one more, a map three and one more for each entry.
 */
const itemBytes = (attributes: Readonly<Record<string, AttributeValue>>): number =>
  Object.entries(attributes).reduce((total, [name, value]) => total + Buffer.byteLength(name) + bytesOf(value), 0);

function bytesOf({ S, N, BOOL, M }: AttributeValue): number {
  if (S !== undefined) return Buffer.byteLength(S);
  if (N !== undefined) return Math.ceil(N.replaceAll(/^0+|0+$/g, '').length / 2) + 1;
  if (BOOL !== undefined) return 1;
  if (M) return 3 + Object.keys(M).length + itemBytes(M);
  throw new Error('The size of this type is not known here');
}

describe('an item of the keys table at its longest', () => {
  const at = 1_888_888_888_888;
  const order = { label: 'ü'.repeat(MAX_LABEL_BYTES / 2), until: at };
  // A rotation is under way for one of them.
  const entries = Array.from({ length: MAX_TOKENS_WITH_GRACE }, (_, index) =>
    tokenEntry(generateToken(RECORD_ID), { ...order, pending: index === 0 }, at),
  );
  const longest = aKey({
    recordId: RECORD_ID,
    keyId: 'a1b2c3d4e5',
    name: 'ü'.repeat(MAX_NAME_BYTES / 2),
    plan: 'enterprise',
    // More than API Gateway lets through at its own limits.
    perMinute: 999_999,
    perDay: 999_999_999,
    createdAt: at,
    expiresAt: at,
    tokens: Object.assign({}, ...entries),
    tokensEndedAt: at,
    busy: { by: 'resume', since: at, id: 'aB3x' },
    interimUntil: at,
    revision: 999_999,
    currentMinute: minuteOf(at),
    minuteUsed: 999_999,
    dayUsed: 999_999_999,
    minuteRefused: 999_999,
    suspendedUntil: at,
    suspendedByAdmin: true,
  });

  // A write of an item of up to 1,024 bytes costs one unit, and each request is one write.
  test('stays below 1,024 bytes, so that to count a request costs one write unit', () => {
    expect(itemBytes(marshall(longest))).toBeLessThan(1_024);
  });
});
