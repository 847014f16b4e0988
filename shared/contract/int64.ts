declare const int64: unique symbol;

/**
 * A 64-bit signed integer as canonical decimal text, such as `9223372036854775807` (spec §2, format int64).
 * It is never a JavaScript number: above 2^53 a number would change the digits.
 */
export type Int64 = string & { readonly [int64]: never };

const CANONICAL_DECIMAL = /^(?:0|-?[1-9]\d{0,18})$/;

/** Whether the text is an int64 in canonical decimal: no sign but `-`, no leading zeros, in range. */
export function isInt64(text: string): text is Int64 {
  return CANONICAL_DECIMAL.test(text) && BigInt.asIntN(64, BigInt(text)) === BigInt(text);
}
