import * as v from 'valibot';
import { isInt64 } from './records.ts';

export { type Int64, isInt64 } from './records.ts';

export const INT64_RULE = 'must be an int64 in decimal, such as 42';

/** A number for an int64 in decimal, else the text itself, for its field's rule. */
export const integerOrText = (text: string): number | string => (isInt64(text) ? Number(text) : text);

/** The digits of an int64. In JSON it is a number, whose digits reach this schema as text. */
export const int64Schema = v.pipe(v.string(INT64_RULE), v.guard(isInt64, INT64_RULE));

/** An integer of JavaScript, from `min` to `max`. */
export const integerFrom = (min: number, max: number, rule = `must be an integer from ${min} to ${max}`) =>
  v.pipe(v.number(rule), v.integer(rule), v.minValue(min, rule), v.maxValue(max, rule));
