import { describe, expect, test } from '@jest/globals';
import { sampleOrders } from '../../../../infra/local/sample-data/orders.ts';
import { sampleStock } from '../../../../infra/local/sample-data/shelves.ts';
import { orderStatuses } from '../../../../shared/contract/orders.ts';

const petsThatAre = (status: string) => sampleStock.filter((entry) => entry.status === status);
const ordersOf = (petId: string) => sampleOrders.filter((order) => order.petId === petId);

describe('the sample orders', () => {
  test('are some twenty, each with an id of its own, ascending', () => {
    const ids = sampleOrders.map(({ id }) => Number(id));

    expect(ids.length).toBeGreaterThanOrEqual(18);
    expect(ids.length).toBeLessThanOrEqual(25);
    expect(ids).toEqual([...new Set(ids)].toSorted((a, b) => a - b));
  });

  test('are for pets of the store', () => {
    const petIds = new Set(sampleStock.map(({ petId }) => petId));

    expect(sampleOrders.filter(({ petId }) => !petIds.has(petId))).toEqual([]);
  });

  test.each(orderStatuses)('are of every status: %s', (status) => {
    expect(sampleOrders.filter((order) => order.status === status).length).toBeGreaterThan(3);
  });

  test('are complete when they are delivered', () => {
    expect(sampleOrders.filter(({ status, complete }) => complete !== (status === 'delivered'))).toEqual([]);
  });

  test('have a date from when they are approved', () => {
    expect(sampleOrders.filter(({ status, shipDate }) => (shipDate === undefined) !== (status === 'placed'))).toEqual(
      [],
    );
  });

  test('are open for every pet that is pending, and not for more than there are', () => {
    for (const { petId, quantity } of petsThatAre('pending')) {
      const open = ordersOf(petId).filter(({ complete }) => !complete);
      const ordered = open.reduce((sum, order) => sum + order.quantity, 0);

      expect(ordered).toBeGreaterThan(0);
      expect(ordered).toBeLessThanOrEqual(quantity);
    }
  });

  test('are delivered for every pet that is sold', () => {
    for (const { petId } of petsThatAre('sold')) {
      expect(ordersOf(petId)).toEqual([expect.objectContaining({ status: 'delivered' })]);
    }
  });
});
