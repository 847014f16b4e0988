import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import * as v from 'valibot';
import { ServiceError } from '../../../shared/contract/errors.ts';
import { cursorSchema, type ListId, operations } from '../../../shared/contract/operations.ts';
import { decodeCursor, encodeCursor, parseListQuery, type Place } from '../../../shared/http/list-query.ts';
import { anInt64, int64 } from '../../support/int64.ts';
import { aRequest } from '../../support/proxy-event.ts';

const parse = (query: string, list: ListId = 'listInventory') =>
  parseListQuery(aRequest({ query }).query, operations[list].query);

const invalidQuery = (message: string) => expect.objectContaining({ code: 'INVALID_QUERY', status: 400, message });

const faultOf = (name: string, value: string, rule: string) =>
  `The parameter "${name}" is "${value}", but must be ${rule}.`;
const limitFault = (value: string) => faultOf('limit', value, 'an integer from 1 to 1000');
const statusFault = (value: string) => faultOf('status', value, 'one of available, pending, sold');
const unknown = (name: string, all = 'limit, cursor, status, petId') =>
  `The parameter "${name}" is unknown: this list supports ${all}.`;

describe('the query of a list', () => {
  test.each([
    ['', {}],
    ['status=sold&cursor=%20abc&limit=1000', { limit: 1_000, cursor: ' abc', status: 'sold' }],
  ])('%j is parsed as %j', (query, wanted) => {
    expect(parse(query)).toEqual(wanted);
  });

  test.each([
    ...['0', '1001', '1.5', '', '010'].map((text) => [`limit=${text}`, limitFault(text)]),
    ...['', 'SOLD', '__proto__'].map((text) => [`status=${text}`, statusFault(text)]),
    ...['Limit', '__proto__', '', 'a.b'].map((name) => [`${name}=1`, unknown(name)]),
    ['page=1&page=2', unknown('page')],
    ['limit=1&status=sold&limit=2', faultOf('limit', '1,2', 'given once')],
    ['limit=0&status=lost', `${limitFault('0')} ${statusFault('lost')}`],
    [`%22%0A${'x'.repeat(5_000)}=1`, unknown(`\\"\\n${'x'.repeat(38)}…`)],
    [`limit=%22%0A${'x'.repeat(5_000)}`, limitFault(`\\"\\n${'x'.repeat(38)}…`)],
  ])('returns 400 if it is invalid (%#)', (query, message) => {
    expect(() => parse(query)).toThrow(invalidQuery(message));
  });
});

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
  test('round-trips any id, list and status, and is URL-safe', () => {
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

describe('a cursor is refused with a remedy', () => {
  const cursor = encodeCursor(place);
  const ofSold = encodeCursor({ ...place, status: 'sold' });

  test.each<[string, string, Omit<Place, 'after'>]>([
    ['for another list', cursor, { ...place, list: 'listOrders' }],
    ['for all entries, if it was for a status', ofSold, place],
    ['for another status', ofSold, { ...place, status: 'pending' }],
  ])('%s', (_, of, where) => {
    expect(refusalOf(of, where)).toMatch(/^INVALID_CURSOR The cursor belongs to .+ Use the URL in the Link header/);
  });

  test.each([
    ['nothing', ''],
    ['one with padding', `${cursor}=`],
    ['an id that is no int64', encoded('listInventory::9223372036854775808')],
    ['one more part', encoded('listInventory::42:1')],
    ['a longer one', encoded(`listInventory::42${' '.repeat(200)}`)],
  ])('that is %s', (_, text) => {
    expect(refusalOf(text)).toMatch(/^INVALID_CURSOR The cursor is malformed. Use the URL in the Link header/);
  });
});

describe('entries by their ids', () => {
  const hundred = Array.from({ length: 100 }, (_, index) => String(index));

  test.each([['103,-9223372036854775808'], [hundred.join(',')]])('are asked for with petId=%s', (ids) => {
    expect(parse(`petId=${ids}`)).toEqual({ petId: ids.split(',') });
    expect(parse(`petId=${ids.replace(',', '&petId=')}`)).toEqual({ petId: ids.split(',') });
  });

  const DECIMAL = 'an int64 in decimal, such as 42';
  const LIST = '1 to 100 different int64s with commas between, such as 101,103';
  const tooMany = (count: number) => `The parameter "petId" has ${count} ids, but must be ${LIST}.`;

  test.each([
    ['petId=', faultOf('petId', '', DECIMAL)],
    ['petId=1,,x', faultOf('petId', '1,,x', DECIMAL)],
    [`petId=${','.repeat(7_900)}`, tooMany(7_901)],
    ['petId=1&petId=1', faultOf('petId', '1,1', LIST)],
    [`petId=${hundred.join(',')},100`, tooMany(101)],
    ['petId=1&status=sold', 'The parameter "petId" excludes all others: send it alone.'],
  ])('return 400 for an invalid query (%#)', (query, message) => {
    expect(() => parse(query)).toThrow(invalidQuery(message));
  });

  test('are refused by a list without them', () => {
    expect(() => parse('petId=1', 'listOrders')).toThrow(invalidQuery(unknown('petId', 'limit, cursor, status')));
  });
});
