import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import * as v from 'valibot';
import { ServiceError } from '../../../shared/contract/errors.ts';
import { cursorSchema } from '../../../shared/contract/list-query.ts';
import { decodeCursor, encodeCursor, type Place } from '../../../shared/http/cursor.ts';
import { anInt64, int64, MAX_INT64, MIN_INT64 } from '../../support/int64.ts';

const place: Place = { list: 'listInventory', status: undefined, after: int64('42') };
const statuses = fc.constantFrom(undefined, 'available', 'pending', 'sold', 'placed');
const encoded = (text: string): string => Buffer.from(text).toString('base64url');

/** What a cursor is refused with; undefined where it is not. */
function refusalOf(cursor: string, where: Omit<Place, 'after'> = place): unknown {
  try {
    decodeCursor(cursor, where);
    return undefined;
  } catch (error) {
    return error instanceof ServiceError ? `${error.code} ${error.message}` : error;
  }
}

describe('a cursor', () => {
  test.each(['0', '1', '-1', '9007199254740993', MAX_INT64, MIN_INT64])('brings back the id %s', (id) => {
    const after = int64(id);

    expect(decodeCursor(encodeCursor({ ...place, after }), place)).toBe(after);
  });

  test('brings back any id, for any list and status, and needs no escaping in a URL', () => {
    fc.assert(
      fc.property(anInt64(), fc.constantFrom('listInventory', 'listOrders'), statuses, (after, list, status) => {
        const cursor = encodeCursor({ list, status, after });

        expect(decodeCursor(cursor, { list, status })).toBe(after);
        expect(encodeURIComponent(cursor)).toBe(cursor);
        expect(v.is(cursorSchema, cursor)).toBe(true);
      }),
    );
  });
});

describe('a cursor is refused, and told what to do,', () => {
  const cursor = encodeCursor(place);
  const ofSold = encodeCursor({ ...place, status: 'sold' });

  test.each<[string, string, Omit<Place, 'after'>]>([
    ['for another list', cursor, { ...place, list: 'listOrders' }],
    ['for one status, where it was for all', cursor, { ...place, status: 'sold' }],
    ['for all, where it was for one status', ofSold, place],
    ['for another status', ofSold, { ...place, status: 'pending' }],
  ])('%s', (_, of, where) => {
    expect(refusalOf(of, where)).toMatch(/^INVALID_CURSOR The cursor is of .+ Follow the Link header/);
  });

  test.each([
    ['nothing', ''],
    ['one character', 'A'],
    ['one with padding', `${cursor}=`],
    ['one with a space', `${cursor} `],
    ['a list alone', encoded('listInventory')],
    ['no id', encoded('listInventory::')],
    ['an id that is no int64', encoded('listInventory::9223372036854775808')],
    ['an id in another form', encoded('listInventory::042')],
    ['one more part', encoded('listInventory::42:1')],
    ['no text', Buffer.from([0xff, 0xfe]).toString('base64url')],
    ['the longest that is looked at', 'A'.repeat(200)],
    ['a longer one', encoded(`listInventory::42${' '.repeat(200)}`)],
    ['a very long one', 'A'.repeat(100_000)],
  ])('that is %s', (_, text) => {
    expect(refusalOf(text)).toMatch(/^INVALID_CURSOR The cursor is malformed. Follow the Link header/);
  });

  test('that anybody made up', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.base64String()), (text) => {
        expect(refusalOf(text)).toMatch(/^INVALID_CURSOR /);
      }),
    );
  });
});
