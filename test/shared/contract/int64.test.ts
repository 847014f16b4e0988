import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import * as v from 'valibot';
import { int64Schema, int64ToJson, isInt64 } from '../../../shared/contract/int64.ts';
import { anInt64, int64 } from '../../support/int64.ts';

const MIN = -(2n ** 63n);
const MAX = 2n ** 63n - 1n;

describe('int64 (spec §2)', () => {
  test.each([
    ['zero', '0'],
    ['one', '1'],
    ['minus one', '-1'],
    ['the first integer that a number cannot hold', '9007199254740993'],
    ['the largest', '9223372036854775807'],
    ['the smallest', '-9223372036854775808'],
  ])('takes %s', (_, text) => {
    expect(isInt64(text)).toBe(true);
  });

  test.each([
    ['nothing', ''],
    ['one more than the largest', '9223372036854775808'],
    ['one less than the smallest', '-9223372036854775809'],
    ['twenty digits', '10000000000000000000'],
    ['a very long number', '9'.repeat(10_000)],
    ['a plus sign', '+1'],
    ['minus zero', '-0'],
    ['a sign alone', '-'],
    ['two signs', '--1'],
    ['a leading zero', '01'],
    ['a leading zero after the sign', '-01'],
    ['zeros only', '00'],
    ['a fraction', '1.0'],
    ['an exponent', '1e3'],
    ['hexadecimal', '0x10'],
    ['a BigInt literal', '1n'],
    ['a thousands separator', '1_000'],
    ['a space before', ' 1'],
    ['a space after', '1 '],
    ['a line end', '1\n'],
    ['letters', 'abc'],
    ['Arabic-Indic digits', '\u0661\u0662'],
    ['full-width digits', '\uFF11\uFF12'],
    ['NaN', 'NaN'],
    ['Infinity', 'Infinity'],
  ])('refuses %s', (_, text) => {
    expect(isInt64(text)).toBe(false);
  });

  test('takes every integer in range, whose text stays as it is', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: MIN, max: MAX }), (value) => {
        const text = value.toString();
        expect(isInt64(text)).toBe(true);
        expect(BigInt.asIntN(64, BigInt(text)).toString()).toBe(text);
      }),
    );
  });

  test('refuses every integer out of range', () => {
    const outside = fc.oneof(
      fc.bigInt({ min: MAX + 1n, max: MAX * 1_000n }),
      fc.bigInt({ min: MIN * 1_000n, max: MIN - 1n }),
    );
    fc.assert(
      fc.property(outside, (value) => {
        expect(isInt64(value.toString())).toBe(false);
      }),
    );
  });

  test('takes only the one text of an integer', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[-+0-9 .eEx_]{1,22}$/), (text) => {
        fc.pre(isInt64(text));
        expect(BigInt(text).toString()).toBe(text);
      }),
    );
  });
});

describe('an int64 in JSON', () => {
  test.each(['9223372036854775807', '-9223372036854775808', '0'])('%s is a number with all its digits', (digits) => {
    expect(JSON.stringify({ id: int64ToJson(int64(digits)) })).toBe(`{"id":${digits}}`);
  });

  test('comes through any text of JSON as it was', () => {
    fc.assert(
      fc.property(anInt64(), (value) => {
        expect(JSON.stringify([int64ToJson(value)])).toBe(`[${value}]`);
      }),
    );
  });
});

describe('the schema of an int64', () => {
  test('takes its digits as they are', () => {
    expect(v.parse(int64Schema, '9007199254740993')).toBe('9007199254740993');
  });

  test.each([
    ['a number', 42],
    ['a BigInt', 42n],
    ['null', null],
    ['nothing', undefined],
    ['other text', '042'],
  ])('refuses %s and says what it takes', (_, value) => {
    expect(v.safeParse(int64Schema, value).issues).toMatchObject([
      { message: 'must be an int64 in decimal, such as 42' },
    ]);
  });
});
