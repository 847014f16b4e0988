import { stripVTControlCharacters } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { bar, colour, usageChart } from '../../../../infra/admin/usage/chart.ts';

describe('bar', () => {
  test.each([
    ['nothing', 0, ''],
    ['anything at all', 1e-9, '▏'],
    ['one eighth of a character', 1 / 320, '▏'],
    ['seven eighths', 7 / 320, '▉'],
    ['one character', 8 / 320, '█'],
    ['one and a half', 12 / 320, '█▌'],
    ['half of the quota', 0.5, '█'.repeat(20)],
    ['all of it', 1, '█'.repeat(40)],
    ['more than that, after a move to a smaller plan', 3, '█'.repeat(40)],
  ])('of %s', (_, share, text) => {
    expect(bar(share)).toBe(text);
  });
});

test.each([
  [0, 'green'],
  [0.699, 'green'],
  [0.7, 'yellow'],
  [0.899, 'yellow'],
  [0.9, 'red'],
  [2, 'red'],
] as const)('the colour of %d is %s', (share, name) => {
  expect(colour(share)).toBe(name);
});

test('the chart has a line for each day, with all columns below each other', () => {
  const days = [
    { date: '2026-11-19', requests: 0 },
    { date: '2026-11-20', requests: 25 },
    { date: '2026-11-21', requests: 1_500 },
  ];
  const chart = usageChart({ id: 'a', name: 'acme', plan: 'free', perDay: 1_000, days });

  expect(stripVTControlCharacters(chart).split('\n')).toEqual([
    'acme, free: requests a day, of 1,000',
    '',
    `2026-11-19  ${' '.repeat(40)}     0    0.0 %`,
    `2026-11-20  █${' '.repeat(39)}    25    2.5 %`,
    `2026-11-21  ${'█'.repeat(40)} 1,500  150.0 %`,
  ]);
});
