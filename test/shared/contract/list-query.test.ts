import { describe, expect, test } from '@jest/globals';
import * as v from 'valibot';
import { petStatusSchema } from '../../../shared/contract/inventory.ts';
import { cursorSchema, limitSchema, listParameters, MAX_LIMIT } from '../../../shared/contract/list-query.ts';

describe('limit (issue: 1 to 1000)', () => {
  test.each([1, 2, 999, 1_000])('takes %d', (limit) => {
    expect(v.is(limitSchema, limit)).toBe(true);
  });

  test.each([0, -1, 1_001, 1.5, NaN, Infinity, '10', null])('refuses %p', (limit) => {
    expect(v.is(limitSchema, limit)).toBe(false);
  });

  test('says what it takes', () => {
    expect(v.safeParse(limitSchema, 0).issues).toMatchObject([{ message: 'must be an integer from 1 to 1000' }]);
    expect(MAX_LIMIT).toBe(1_000);
  });
});

describe('cursor', () => {
  test.each(['A', 'aZ09-_', 'x'.repeat(200)])('takes %j', (cursor) => {
    expect(v.is(cursorSchema, cursor)).toBe(true);
  });

  test.each(['', 'x'.repeat(201), 'a=', 'a+b', 'a/b', 'a b', 'a\n', 'ä', '.'])('refuses %j', (cursor) => {
    expect(v.is(cursorSchema, cursor)).toBe(false);
  });
});

test('the parameters of a list are limit, cursor and the status of its entries, each described', () => {
  const parameters = listParameters(petStatusSchema);

  expect(Object.keys(parameters)).toEqual(['limit', 'cursor', 'status']);
  expect(Object.values(parameters).map((schema) => v.getDescription(schema))).toEqual([
    expect.stringContaining('Link header'),
    expect.stringContaining('Link header'),
    expect.stringContaining('status'),
  ]);
  expect(v.is(parameters.status, 'sold')).toBe(true);
  expect(v.is(parameters.status, 'placed')).toBe(false);
});
