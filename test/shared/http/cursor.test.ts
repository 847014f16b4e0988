import { randomBytes } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import * as v from 'valibot';
import { ServiceError } from '../../../shared/contract/errors.ts';
import { cursorSchema } from '../../../shared/contract/list-query.ts';
import { decodeCursor, encodeCursor, type Place } from '../../../shared/http/cursor.ts';
import { anInt64, int64, MAX_INT64, MIN_INT64 } from '../../support/int64.ts';

const secret = randomBytes(32);
const place: Place = { list: 'listInventory', status: undefined, after: int64('42') };
const statuses = fc.constantFrom(undefined, 'available', 'pending', 'sold', 'placed', '');
const INVALID = 'INVALID_CURSOR 400';
const REFUSED = new Set([INVALID]);

const CHARACTERS = Array.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=+/ ä');

/** The id that a cursor is read as, or the error that it is refused with. */
function resultOf(cursor: string, where: Omit<Place, 'after'> = place, key: Uint8Array = secret): unknown {
  try {
    return decodeCursor(cursor, where, key);
  } catch (error) {
    return error instanceof ServiceError ? `${error.code} ${error.status}` : error;
  }
}

describe('a cursor', () => {
  test.each(['0', '1', '-1', '9007199254740993', MAX_INT64, MIN_INT64])('brings back the id %s', (id) => {
    const after = int64(id);

    expect(decodeCursor(encodeCursor({ ...place, after }, secret), place, secret)).toBe(after);
  });

  test('brings back any id, for any list and status', () => {
    fc.assert(
      fc.property(anInt64(), fc.constantFrom('listInventory', 'listOrders'), statuses, (after, list, status) => {
        expect(decodeCursor(encodeCursor({ list, status, after }, secret), { list, status }, secret)).toBe(after);
      }),
    );
  });

  test('is of one length and needs no escaping in a URL', () => {
    fc.assert(
      fc.property(anInt64(), (after) => {
        const cursor = encodeCursor({ ...place, after }, secret);
        expect(cursor).toMatch(/^[\w-]{32}$/);
        expect(encodeURIComponent(cursor)).toBe(cursor);
        expect(v.is(cursorSchema, cursor)).toBe(true);
      }),
    );
  });
});

describe('a cursor is refused', () => {
  const cursor = encodeCursor(place, secret);

  test('with any one bit changed', () => {
    const bytes = Buffer.from(cursor, 'base64url');
    const changed = Array.from({ length: bytes.length * 8 }, (_, bit) => {
      const copy = Buffer.from(bytes);
      copy.writeUInt8(copy.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      return copy.toString('base64url');
    });

    expect(new Set(changed.map((text) => resultOf(text)))).toEqual(REFUSED);
  });

  test('with any one character changed', () => {
    const changed = Array.from(cursor, (_, index) =>
      CHARACTERS.map((character) => cursor.slice(0, index) + character + cursor.slice(index + 1)),
    );
    const others = changed.flat().filter((text) => text !== cursor);

    expect(new Set(others.map((text) => resultOf(text)))).toEqual(REFUSED);
  });

  test('for another list', () => {
    expect(resultOf(cursor, { ...place, list: 'listOrders' })).toBe(INVALID);
  });

  test.each(['available', 'pending', 'sold'])('for the entries with the status %s, where it was for all', (status) => {
    expect(resultOf(cursor, { ...place, status })).toBe(INVALID);
  });

  test('for all entries, or those of another status, where it was for one', () => {
    const ofSold = encodeCursor({ ...place, status: 'sold' }, secret);

    expect(resultOf(ofSold, place)).toBe(INVALID);
    expect(resultOf(ofSold, { ...place, status: 'pending' })).toBe(INVALID);
  });

  test('with another secret', () => {
    expect(resultOf(cursor, place, randomBytes(32))).toBe(INVALID);
  });

  test.each([
    ['nothing', ''],
    ['one character', 'A'],
    ['an id without a signature', Buffer.alloc(8).toString('base64url')],
    ['one that is cut off', cursor.slice(0, -1)],
    ['one byte less', Buffer.from(cursor, 'base64url').subarray(0, -1).toString('base64url')],
    ['one byte more', Buffer.concat([Buffer.from(cursor, 'base64url'), Buffer.alloc(1)]).toString('base64url')],
    ['one with padding', `${cursor}=`],
    ['one with a space', `${cursor} `],
    ['one twice', cursor + cursor],
    ['the longest that is looked at', 'A'.repeat(200)],
    ['a longer one', 'A'.repeat(201)],
    ['a very long one', 'A'.repeat(100_000)],
  ])('that is %s', (_, text) => {
    expect(resultOf(text)).toBe(INVALID);
  });

  test('that anybody made up', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.base64String()), (text) => {
        expect(resultOf(text)).toBe(INVALID);
      }),
    );
  });
});
