import { describe, expect, test } from '@jest/globals';
import * as v from 'valibot';
import { int64ToJson, isInt64 } from '../../../shared/contract/int64.ts';
import {
  inventoryItemSchema,
  inventoryItemToJson,
  inventoryUpdateSchema,
  quantitySchema,
} from '../../../shared/contract/inventory.ts';
import { cursorSchema, limitSchema, MAX_LIMIT } from '../../../shared/contract/list-query.ts';
import { type Order, orderSchema, orderToJson } from '../../../shared/contract/orders.ts';
import { type PetRecord, petRecordSchema, petSchema, petToJson } from '../../../shared/contract/pets.ts';
import { int64, MAX_INT64 } from '../../support/int64.ts';

describe('int64 (spec §2)', () => {
  test.each([
    ['zero', '0'],
    ['one', '1'],
    ['the largest', '9223372036854775807'],
    ['the smallest', '-9223372036854775808'],
  ])('takes %s', (_, text) => {
    expect(isInt64(text)).toBe(true);
  });

  test.each([
    ['nothing', ''],
    ['one more than the largest', '9223372036854775808'],
    ['one less than the smallest', '-9223372036854775809'],
    ['a plus sign', '+1'],
    ['minus zero', '-0'],
    ['a sign alone', '-'],
    ['a leading zero', '01'],
    ['a fraction', '1.0'],
    ['an exponent', '1e3'],
    ['a space before', ' 1'],
    ['a line end', '1\n'],
    ['Arabic-Indic digits', '\u0661\u0662'],
  ])('refuses %s', (_, text) => {
    expect(isInt64(text)).toBe(false);
  });
});

describe('an int64 in JSON', () => {
  test.each(['9223372036854775807', '-9223372036854775808', '0'])('%s is a number with all its digits', (digits) => {
    expect(JSON.stringify({ id: int64ToJson(int64(digits)) })).toBe(`{"id":${digits}}`);
  });
});

const MAX_INT32 = 2_147_483_647;

describe('quantity (design: integer, 0 to 2 147 483 647)', () => {
  test.each([0, 1, MAX_INT32])('takes %d', (quantity) => {
    expect(v.is(quantitySchema, quantity)).toBe(true);
  });

  test.each([
    ['a negative number', -1],
    ['one more than the largest', MAX_INT32 + 1],
    ['a fraction', 0.5],
    ['text', '5'],
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
  test('is JSON with its three fields and every digit of petId', () => {
    expect(inventoryItemToJson({ petId: MAX_INT64, quantity: 12, status: 'pending' })).toBe(
      '{"petId":9223372036854775807,"quantity":12,"status":"pending"}',
    );
  });

  const item = { petId: '9223372036854775807', quantity: 0, status: 'sold' };

  test.each([
    ['a quantity that is text', { quantity: '1' }, 'must be an integer from 0 to 2147483647'],
    ['a status of an order', { status: 'placed' }, 'must be one of available, pending, sold'],
  ])('is refused with %s, and says why', (_, difference, message) => {
    expect(v.safeParse(inventoryItemSchema, { ...item, ...difference }).issues).toMatchObject([{ message }]);
  });
});

const order: Order = {
  id: int64('9223372036854775807'),
  petId: int64('-9223372036854775808'),
  quantity: 2,
  shipDate: '2026-11-21T12:30:00Z',
  status: 'approved',
  complete: true,
};

describe('an order (the public Petstore’s record)', () => {
  test.each([
    ['all of its fields', {}],
    ['a shipping date with a fraction and an offset', { shipDate: '2026-11-21T12:30:00.123+01:00' }],
  ])('is taken with %s', (_, difference) => {
    expect(v.is(orderSchema, { ...order, ...difference })).toBe(true);
  });

  test.each([
    ['an id that is a number', { id: 1 }],
    ['a shipping date without a time', { shipDate: '2026-11-21' }],
    ['a status of a pet', { status: 'sold' }],
    ['a field that is not known', { colour: 'red' }],
  ])('is refused with %s', (_, difference) => {
    expect(v.is(orderSchema, { ...order, ...difference })).toBe(false);
  });

  test.each(['id', 'petId', 'quantity', 'status', 'complete'] as const)('is refused without %s', (field) => {
    expect(v.is(orderSchema, { ...order, [field]: undefined })).toBe(false);
  });
});

describe('the JSON of an order', () => {
  test('has its fields with every digit of the ids', () => {
    expect(orderToJson(order)).toBe(
      '{"id":9223372036854775807,"petId":-9223372036854775808,"quantity":2,"shipDate":"2026-11-21T12:30:00Z",' +
        '"status":"approved","complete":true}',
    );
  });
});

const URL_OF_PHOTO = 'https://images.example.com/pets/101.jpg';

const pet: PetRecord = {
  id: int64('9223372036854775807'),
  category: { id: int64('-9223372036854775808'), name: 'dogs' },
  name: 'Labrador Retriever',
  photoUrls: [URL_OF_PHOTO],
  tags: [{ id: int64('9007199254740993'), name: 'family' }],
};

const labels = (count: number) => Array.from({ length: count }, (_, index) => ({ id: String(index), name: 'x' }));

describe('a pet (the public Petstore’s record)', () => {
  test.each([
    ['all of its fields', {}],
    ['no category and no tags', { category: undefined, tags: undefined }],
    ['no photos', { photoUrls: [] }],
    ['50 photos and 50 tags', { photoUrls: Array(50).fill(URL_OF_PHOTO), tags: labels(50) }],
    ['a name of 200 characters', { name: 'x'.repeat(200) }],
    ['a URL of 2000 characters', { photoUrls: [`${URL_OF_PHOTO}?`.padEnd(2_000, 'x')] }],
  ])('is taken with %s', (_, difference) => {
    expect(v.is(petRecordSchema, { ...pet, ...difference })).toBe(true);
  });

  test.each([
    ['an id that is a number', { id: 1 }],
    ['an empty name', { name: '' }],
    ['a name of 201 characters', { name: 'x'.repeat(201) }],
    ['a photo that is no URL', { photoUrls: ['a photo'] }],
    ['51 photos', { photoUrls: Array(51).fill(URL_OF_PHOTO) }],
    ['a status, which the stock entry has', { status: 'sold' }],
  ])('is refused with %s', (_, difference) => {
    expect(v.is(petRecordSchema, { ...pet, ...difference })).toBe(false);
  });

  test('as it is answered may have a status', () => {
    expect(v.is(petSchema, { ...pet, status: 'sold' })).toBe(true);
    expect(v.is(petSchema, { ...pet, status: 'placed' })).toBe(false);
  });
});

describe('the JSON of a pet', () => {
  test('has its fields with every digit of the ids', () => {
    expect(petToJson(pet, 'pending')).toBe(
      '{"id":9223372036854775807,"category":{"id":-9223372036854775808,"name":"dogs"},"name":"Labrador Retriever",' +
        `"photoUrls":["${URL_OF_PHOTO}"],"tags":[{"id":9007199254740993,"name":"family"}],"status":"pending"}`,
    );
  });
});

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
