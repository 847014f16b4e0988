import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { statisticOf } from '../../../../infra/local/metrics/statistic.ts';

const oneToHundred = Array.from({ length: 100 }, (_, index) => 100 - index);

describe('a statistic', () => {
  test.each([
    ['Sum', [3, 1, 2], 6],
    ['Average', [3, 1, 2], 2],
    ['Minimum', [3, 1, 2], 1],
    ['Maximum', [3, 1, 2], 3],
    ['SampleCount', [3, 1, 2], 3],
    ['p50', [3, 1, 2], 2],
    ['p50', [4, 1, 2, 3], 2],
    ['p99', [7], 7],
    ['p50', oneToHundred, 50],
    ['p99', oneToHundred, 99],
    ['p99.9', oneToHundred, 100],
    ['p100', oneToHundred, 100],
    ['p0', oneToHundred, 1],
  ])('%s of %j is %d', (name, values, result) => {
    expect(statisticOf(name)?.(values)).toBe(result);
  });

  test('a percentile is a sample that so many per cent of the samples do not exceed, and the smallest one', () => {
    const samples = fc.array(fc.integer({ min: 0, max: 50 }), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(samples, fc.integer({ min: 1, max: 99 }), (values, percent) => {
        const percentile = statisticOf(`p${percent}`)?.(values) ?? Number.NaN;
        const share = (most: number): number => values.filter((value) => value <= most).length / values.length;
        expect(values).toContain(percentile);
        expect(share(percentile)).toBeGreaterThanOrEqual(percent / 100);
        expect(share(percentile - 1)).toBeLessThan(percent / 100);
      }),
    );
  });

  test.each(['tm99', 'p101', 'p', 'sum', 'toString', ''])('%s is not known', (name) => {
    expect(statisticOf(name)).toBeUndefined();
  });
});
