import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { petStatusSchema } from '../../../shared/contract/inventory.ts';
import { parseListQuery } from '../../../shared/http/list-query.ts';
import { aProxyEvent } from '../../support/proxy-event.ts';

const parse = (query: string) => parseListQuery(aProxyEvent({ query }), petStatusSchema);

const invalidQuery = (message: string) => expect.objectContaining({ code: 'INVALID_QUERY', status: 400, message });

const LIMIT_FAULT = 'The parameter "limit" must be an integer from 1 to 1000.';
const STATUS_FAULT = 'The parameter "status" must be one of available, pending, sold.';

describe('the query of a list', () => {
  test.each([
    ['', {}],
    ['limit=1', { limit: 1 }],
    ['limit=1000', { limit: 1_000 }],
    ['limit=007', { limit: 7 }],
    ['status=available', { status: 'available' }],
    ['status=pending', { status: 'pending' }],
    ['status=sold', { status: 'sold' }],
    ['cursor=abc', { cursor: 'abc' }],
    ['cursor=', { cursor: '' }],
    ['cursor=%20anything', { cursor: ' anything' }],
    ['status=sold&cursor=abc&limit=10', { limit: 10, cursor: 'abc', status: 'sold' }],
  ])('%j asks for %j', (query, wanted) => {
    expect(parse(query)).toEqual({ limit: undefined, cursor: undefined, status: undefined, ...wanted });
  });

  test.each([
    '0',
    '1001',
    '-1',
    '%2B1',
    '1.5',
    '1e3',
    '0x10',
    '',
    '%20',
    '%2010',
    'ten',
    'NaN',
    'Infinity',
    '9999999999999999999999',
    '%D9%A1',
    '1%0A',
    '1,2',
    'null',
  ])('limit=%s is 400', (limit) => {
    expect(() => parse(`limit=${limit}`)).toThrow(invalidQuery(LIMIT_FAULT));
  });

  test.each(['', 'SOLD', 'sold%20', 'placed', 'sold,pending', '__proto__'])('status=%s is 400', (status) => {
    expect(() => parse(`status=${status}`)).toThrow(invalidQuery(STATUS_FAULT));
  });

  test.each(['Limit', 'offset', 'page', '__proto__', 'constructor', 'toString', 'hasOwnProperty', ''])(
    'the parameter %j is not known, which is 400',
    (name) => {
      expect(() => parse(`${name}=1`)).toThrow(invalidQuery(`The parameter "${name}" is not known.`));
    },
  );

  test.each(['limit=1&limit=1', 'limit=1&status=sold&limit=2', 'limit=&limit='])(
    'a parameter given twice is 400: %s',
    (query) => {
      expect(() => parse(query)).toThrow(invalidQuery('The parameter "limit" is given more than once.'));
    },
  );

  test('all faults are named at once', () => {
    expect(() => parse('limit=0&status=lost')).toThrow(invalidQuery(`${LIMIT_FAULT} ${STATUS_FAULT}`));
  });

  test('a name of the caller is cut short and escaped', () => {
    expect(() => parse(`%22%0A${'x'.repeat(5_000)}=1`)).toThrow(
      invalidQuery(`The parameter "\\"\\n${'x'.repeat(38)}" is not known.`),
    );
  });

  test('is read where API Gateway sends no parameters', () => {
    expect(parseListQuery({ ...aProxyEvent(), multiValueQueryStringParameters: null }, petStatusSchema)).toEqual({});
  });

  test('every limit from 1 to 1000 is taken', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000 }), (limit) => {
        expect(parse(`limit=${limit}`).limit).toBe(limit);
      }),
    );
  });

  test('whatever is asked, the answer is a query or a 400', () => {
    fc.assert(
      fc.property(fc.webQueryParameters(), (query) => {
        let fault: unknown;
        try {
          parse(query);
        } catch (error) {
          fault = error;
        }
        expect([undefined, 'INVALID_QUERY']).toContain(fault instanceof Error && 'code' in fault ? fault.code : fault);
      }),
    );
  });
});
