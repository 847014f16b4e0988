import { describe, expect, test } from '@jest/globals';
import { DashboardError } from '../../../infra/dashboard/dashboard-error.ts';
import { evaluate, type Series } from '../../../infra/dashboard/expression/evaluate.ts';
import { parseExpression } from '../../../infra/dashboard/expression/parse.ts';

const series: Readonly<Record<string, Series>> = {
  a: [1, 2, undefined, 4],
  b: [10, undefined, undefined, 0],
};

function result(expression: string): Series {
  return evaluate(parseExpression(expression), {
    length: 4,
    periodSeconds: 300,
    series: (id) => series[id] ?? [],
    metrics: () => Object.values(series),
  });
}

const _ = undefined;

describe('a metric math expression', () => {
  test.each<[string, Series]>([
    ['a', [1, 2, _, 4]],
    ['2', [2, 2, 2, 2]],
    ['1 + 2 * 3 - 4 / 2', [5, 5, 5, 5]],
    ['(1 + 2) * 3', [9, 9, 9, 9]],
    ['10 - 3 - 2', [5, 5, 5, 5]],
    ['-a * 2', [-2, -4, _, -8]],
    ['a * 0.5', [0.5, 1, _, 2]],
    ['a + b', [11, _, _, 4]],
    ['100 * a / b', [10, _, _, _]],
    ['a > 1', [0, 1, _, 1]],
    ['a >= 2 && a <= 2', [0, 1, _, 0]],
    ['a < 2 || a == 4', [1, 0, _, 1]],
    ['a != 2', [1, 0, _, 1]],
    ['FILL(a, 0)', [1, 2, 0, 4]],
    ['FILL(b, 7) + a', [11, 9, _, 4]],
    ['IF(a > 1, b, 5)', [5, _, _, 0]],
    ['IF(a >= 2, 100 * a / FILL(b, 1), 0)', [0, 200, _, _]],
    ['SUM([a, b])', [11, 2, _, 4]],
    ['AVG([a, b])', [5.5, 2, _, 2]],
    ['MIN([a, b])', [1, 2, _, 0]],
    ['MAX([a, b])', [10, 2, _, 4]],
    ['SUM(METRICS())', [11, 2, _, 4]],
    ['SUM(a)', [7, 7, 7, 7]],
    ['sum([a]) / PERIOD(a) * 300', [1, 2, _, 4]],
  ])('%s', (expression, expected) => {
    expect(result(expression)).toEqual(expected);
  });

  test.each([
    '1 +',
    '(a',
    'a b',
    'a ; b',
    '',
    'SUM([a, b]',
    'SEARCH("x")',
    'RATE(a)',
    'FILL(a, b)',
    'SUM(a, b)',
    '[a, b]',
    '[a] + 1',
    '"text"',
    'a ^ 2',
    'not a',
    'a like /x/',
  ])('%p is not known, and says so', (expression) => {
    expect(() => result(expression)).toThrow(DashboardError);
  });
});
