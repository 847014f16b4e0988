import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import * as v from 'valibot';
import { cursorSchema, operations } from '../../../shared/contract/operations.ts';
import { decodeCursor, encodeCursor, parseListQuery, type Place } from '../../../shared/http/list-query.ts';
import { anInt64, int64 } from '../../support/int64.ts';
import { aRequest } from '../../support/proxy-event.ts';

const parse = (query: string) => parseListQuery(aRequest({ query }).query, operations.listInventory.query);

const invalidQuery = (message: string) => expect.objectContaining({ code: 'INVALID_QUERY', message });

const faultOf = (name: string, value: string, rule: string) =>
  `The parameter "${name}" is "${value}", but must be ${rule}.`;
const limitFault = (value: string) => faultOf('limit', value, 'an integer from 1 to 1000');
const statusFault = (value: string) => faultOf('status', value, 'one of available, pending, sold');

const hundred = Array.from({ length: 100 }, (_, index) => String(index));
const LIST = '1 to 100 different int64s with commas between, such as 101,103';
const idFault = (value: string) => faultOf('petId', value, 'an int64 in decimal, such as 42');
const tooMany = (count: number) => `The parameter "petId" has ${count} ids, but must be ${LIST}.`;

describe('The query of a list', () => {
  test.each([
    ['all', '', {}],
    ['a page', 'status=sold&cursor=%20abc&limit=1000', { limit: 1_000, cursor: ' abc', status: 'sold' }],
    ['ids', 'petId=103,-9223372036854775808', { petId: ['103', '-9223372036854775808'] }],
    ['ids in several parameters', 'petId=103&petId=5', { petId: ['103', '5'] }],
    ['100 ids', `petId=${hundred.join(',')}`, { petId: hundred }],
  ])('may ask for %s', (_, query, wanted) => {
    expect(parse(query)).toEqual(wanted);
  });

  test.each([
    ...['0', '1001', '1.5', '', '010'].map((text) => [limitFault(text), `limit=${text}`]),
    ...['', 'SOLD', '__proto__'].map((text) => [statusFault(text), `status=${text}`]),
    [faultOf('limit', '1,2', 'given once'), 'limit=1&status=sold&limit=2'],
    [`${limitFault('0')} ${statusFault('lost')}`, 'limit=0&status=lost'],
    [limitFault(`\\"\\n${'x'.repeat(38)}…`), `limit=%22%0A${'x'.repeat(5_000)}`],
    [idFault(''), 'petId='],
    [idFault('1,,x'), 'petId=1,,x'],
    [tooMany(7_901), `petId=${','.repeat(7_900)}`],
    [faultOf('petId', '1,1', LIST), 'petId=1&petId=1'],
    [tooMany(101), `petId=${hundred.join(',')},100`],
    ['The parameter "petId" excludes all others: send it alone.', 'petId=1&status=sold'],
  ])('is 400 with the message: %s', (message, query) => {
    expect(() => parse(query)).toThrow(invalidQuery(message));
  });
});

const place: Place = { list: 'listInventory', status: undefined, after: int64('42') };
const statuses = fc.constantFrom(undefined, 'available', 'pending', 'sold', 'placed');
const encoded = (text: string): string => Buffer.from(text).toString('base64url');

describe('A cursor', () => {
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

  const cursor = encodeCursor(place);
  const ofSold = encodeCursor({ ...place, status: 'sold' });

  const message =
    'The cursor is malformed, or belongs to another list or status. Use the URL in the Link header unchanged, or start again without a cursor.';

  test.each<[string, string, Omit<Place, 'after'>?]>([
    ['of another list', cursor, { ...place, list: 'listOrders' }],
    ['of one status, for all', ofSold],
    ['of another status', ofSold, { ...place, status: 'pending' }],
    ['that is empty', ''],
    ['with padding', `${cursor}=`],
    ['with an id that is no int64', encoded('listInventory::9223372036854775808')],
    ['with one part more', encoded('listInventory::42:1')],
    ['that is too long', encoded(`listInventory::42${' '.repeat(200)}`)],
  ])('%s is refused, with advice', (_, text, where = place) => {
    expect(() => decodeCursor(text, where)).toThrow(expect.objectContaining({ code: 'INVALID_CURSOR', message }));
  });
});
