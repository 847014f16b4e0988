import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import * as v from 'valibot';
import { type Order, orderSchema, orderStatuses, orderToJson } from '../../../shared/contract/orders.ts';
import { anInt64, int64 } from '../../support/int64.ts';

const order: Order = {
  id: int64('9223372036854775807'),
  petId: int64('-9223372036854775808'),
  quantity: 2,
  shipDate: '2026-11-21T12:30:00Z',
  status: 'approved',
  complete: true,
};

describe('an order (the public Petstore’s record)', () => {
  test('is placed, approved or delivered', () => {
    expect(orderStatuses).toEqual(['placed', 'approved', 'delivered']);
  });

  test.each([
    ['all of its fields', {}],
    ['no shipping date', { shipDate: undefined }],
    ['a shipping date with a fraction and an offset', { shipDate: '2026-11-21T12:30:00.123+01:00' }],
    ['a quantity of none', { quantity: 0 }],
  ])('is taken with %s', (_, difference) => {
    expect(v.is(orderSchema, { ...order, ...difference })).toBe(true);
  });

  test.each([
    ['an id that is a number', { id: 1 }],
    ['an id beyond int64', { id: '9223372036854775808' }],
    ['a petId that is no integer', { petId: '1.5' }],
    ['a quantity below zero', { quantity: -1 }],
    ['a shipping date without a time', { shipDate: '2026-11-21' }],
    ['a status of a pet', { status: 'sold' }],
    ['complete as text', { complete: 'true' }],
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

  test('has no shipping date where there is none', () => {
    expect(orderToJson({ ...order, shipDate: undefined })).not.toContain('shipDate');
  });

  test('keeps the digits of any ids', () => {
    fc.assert(
      fc.property(anInt64(), anInt64(), (id, petId) => {
        expect(orderToJson({ ...order, id, petId })).toMatch(`{"id":${id},"petId":${petId},"quantity"`);
      }),
    );
  });
});
