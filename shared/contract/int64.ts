import * as v from 'valibot';

declare const int64: unique symbol;

/**
 * A 64-bit signed integer as canonical decimal text, such as `9223372036854775807` (spec §2, format int64).
 * It is never a JavaScript number: above 2^53 a number would change the digits.
 */
export type Int64 = string & { readonly [int64]: never };

export const INT64_RULE = 'must be an int64 in decimal, such as 42';

const CANONICAL_DECIMAL = /^(?:0|-?[1-9]\d{0,18})$/;

/** Whether the text is an int64 in canonical decimal: no sign but `-`, no leading zeros, in range. */
export function isInt64(text: string): text is Int64 {
  return CANONICAL_DECIMAL.test(text) && BigInt.asIntN(64, BigInt(text)) === BigInt(text);
}

/** The digits of an int64. In JSON it is a number, whose digits reach this schema as text. */
export const int64Schema = v.pipe(v.string(INT64_RULE), v.guard(isInt64, INT64_RULE));

declare global {
  interface JSON {
    /** ECMAScript 2026 (JSON.parse source text access), which TypeScript does not declare yet. */
    rawJSON(text: string): unknown;
  }
}

/** An int64 for `JSON.stringify`, which writes its digits as they are. */
export const int64ToJson = (value: Int64): unknown => JSON.rawJSON(value);
