import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { number, percent, print, table, time } from '../../../infra/admin/output.ts';

describe('in a pipe', () => {
  const { isTTY } = process.stdout;
  let printed = '';

  beforeEach(() => {
    printed = '';
    process.stdout.isTTY = false;
    jest.spyOn(process.stdout, 'write').mockImplementation((text) => {
      printed += String(text);
      return true;
    });
  });

  afterEach(() => {
    jest.restoreAllMocks();
    process.stdout.isTTY = isTTY;
  });

  test('a table is lines of values with tabs between them, whatever their width', () => {
    const rows = [
      ['1', 'Pet & Söhne'],
      ['22', ''],
    ];
    expect(table(['id', 'name'], rows, [0])).toBe('id\tname\n1\tPet & Söhne\n22\t');
    expect(table(['id', 'name'], [])).toBe('id\tname');
  });

  test('a result is its text', () => {
    print({ json: false }, { ok: true }, () => 'It worked.');
    expect(printed).toBe('It worked.\n');
  });

  test('or, for scripts, one JSON value in one line, and the text is not even made', () => {
    const text = jest.fn(() => 'It worked.');
    print({ json: true }, { name: 'a\nb', list: [1, null] }, text);
    expect(printed).toBe('{"name":"a\\nb","list":[1,null]}\n');
    expect(text).not.toHaveBeenCalled();
  });
});

test.each([
  [0, '0'],
  [999, '999'],
  [1_000, '1,000'],
  [10_000_000, '10,000,000'],
])('the number %i reads %s', (value, text) => {
  expect(number(value)).toBe(text);
});

test.each([
  [0, '0.0 %'],
  [0.0064, '0.6 %'],
  [0.5, '50.0 %'],
  [1, '100.0 %'],
  [12.5, '1,250.0 %'],
])('the share %d reads %s', (share, text) => {
  expect(percent(share)).toBe(text);
});

test('a time reads to the minute', () => {
  expect(time('2026-11-21T12:30:59.999Z')).toBe('2026-11-21 12:30 UTC');
});
