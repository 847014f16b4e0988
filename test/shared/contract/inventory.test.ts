import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import * as v from 'valibot';
import {
  inventoryItemSchema,
  inventoryItemToJson,
  inventoryUpdateSchema,
  petStatuses,
  quantitySchema,
} from '../../../shared/contract/inventory.ts';
import { anInt64, MAX_INT64 } from '../../support/int64.ts';

const MAX_INT32 = 2_147_483_647;

describe('quantity (design: integer, 0 to 2 147 483 647)', () => {
  test.each([0, 1, MAX_INT32])('takes %d', (quantity) => {
    expect(v.is(quantitySchema, quantity)).toBe(true);
  });

  test.each([
    ['a negative number', -1],
    ['one more than the largest', MAX_INT32 + 1],
    ['a fraction', 0.5],
    ['not a number', NaN],
    ['infinity', Infinity],
    ['text', '5'],
    ['null', null],
    ['true', true],
    ['a list', [5]],
    ['an object', { value: 5 }],
    ['a BigInt', 5n],
  ])('refuses %s', (_, quantity) => {
    expect(v.is(quantitySchema, quantity)).toBe(false);
  });
});

describe('InventoryUpdate (spec §2)', () => {
  test('has the quantity and no other field', () => {
    expect(v.parse(inventoryUpdateSchema, { quantity: 5 })).toEqual({ quantity: 5 });
    expect(v.is(inventoryUpdateSchema, { quantity: 5, status: 'sold' })).toBe(false);
  });
});

describe('InventoryItem (spec §2)', () => {
  test('PetStatus is available, pending or sold', () => {
    expect(petStatuses).toEqual(['available', 'pending', 'sold']);
  });

  test('is JSON with its three fields and every digit of petId', () => {
    expect(inventoryItemToJson({ petId: MAX_INT64, quantity: 12, status: 'pending' })).toBe(
      '{"petId":9223372036854775807,"quantity":12,"status":"pending"}',
    );
  });

  test('keeps the digits of any petId', () => {
    fc.assert(
      fc.property(anInt64(), (petId) => {
        const json = inventoryItemToJson({ petId, quantity: 0, status: 'available' });
        expect(/"petId":(-?\d+),/.exec(json)?.[1]).toBe(petId);
      }),
    );
  });

  const item = { petId: '9223372036854775807', quantity: 0, status: 'sold' };

  test('is taken with its digits', () => {
    expect(v.parse(inventoryItemSchema, item)).toEqual(item);
  });

  test.each([
    ['a petId that is a number', { petId: 1 }, 'must be an int64 in decimal, such as 42'],
    ['a quantity that is text', { quantity: '1' }, 'must be an integer from 0 to 2147483647'],
    ['a status of an order', { status: 'placed' }, 'must be one of available, pending, sold'],
  ])('is refused with %s, and says why', (_, difference, message) => {
    expect(v.safeParse(inventoryItemSchema, { ...item, ...difference }).issues).toMatchObject([{ message }]);
  });
});
