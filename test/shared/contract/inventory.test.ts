import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import * as v from 'valibot';
import { isInt64 } from '../../../shared/contract/int64.ts';
import {
  inventoryItemToJson,
  inventoryUpdateSchema,
  petStatuses,
  quantitySchema,
} from '../../../shared/contract/inventory.ts';

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
    const digits = '9223372036854775807';
    const petId = isInt64(digits) ? digits : undefined;

    expect(petId && inventoryItemToJson({ petId, quantity: 12, status: 'pending' })).toBe(
      '{"petId":9223372036854775807,"quantity":12,"status":"pending"}',
    );
  });

  test('keeps the digits of any petId', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (id) => {
        const petId = id.toString();
        if (!isInt64(petId)) throw new Error(`${petId} is an int64`);
        const json = inventoryItemToJson({ petId, quantity: 0, status: 'available' });
        expect(/"petId":(-?\d+),/.exec(json)?.[1]).toBe(petId);
      }),
    );
  });
});
