import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { MetricStore } from '../../../../infra/local/metrics/metric-store.ts';

const requests = { namespace: 'Store', name: 'Requests', dimensions: { stack: 's', plan: 'free' } };

describe('the samples of a metric', () => {
  test('are those from a time until before another', () => {
    const times = fc.array(fc.integer({ min: 0, max: 30 }), { maxLength: 30 });
    fc.assert(
      fc.property(times, fc.nat(30), fc.nat(30), (given, from, until) => {
        const store = new MetricStore(given.map((at) => ({ ...requests, at, value: at })));
        const expected = given.filter((at) => at >= from && at < until).toSorted((one, other) => one - other);
        expect(store.between(requests, from, until)).toEqual(expected);
      }),
    );
  });

  test('do not depend on the order of the dimensions', () => {
    const store = new MetricStore([{ ...requests, at: 1, value: 5 }]);

    expect(store.between({ ...requests, dimensions: { plan: 'free', stack: 's' } }, 0, 2)).toEqual([5]);
  });

  test.each([
    ['namespace', { namespace: 'Other' }],
    ['name', { name: 'Refusals' }],
    ['value of a dimension', { dimensions: { stack: 's', plan: 'pro' } }],
    ['set of dimensions', { dimensions: { stack: 's' } }],
  ])('are not those of another %s', (_, difference) => {
    const store = new MetricStore([{ ...requests, at: 1, value: 5 }]);

    expect(store.between({ ...requests, ...difference }, 0, 2)).toEqual([]);
  });
});
