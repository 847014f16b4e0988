import * as fc from 'fast-check';
import { type Int64, isInt64 } from '../../shared/contract/int64.ts';

export const MAX_INT64 = int64('9223372036854775807');
export const MIN_INT64 = int64('-9223372036854775808');

export function int64(digits: string): Int64 {
  if (!isInt64(digits)) throw new Error(`${digits} is not an int64`);
  return digits;
}

export function anInt64(): fc.Arbitrary<Int64> {
  return fc.bigInt({ min: BigInt(MIN_INT64), max: BigInt(MAX_INT64) }).map((value) => int64(value.toString()));
}
