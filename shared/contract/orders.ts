import * as v from 'valibot';
import { type Int64, int64Schema } from './int64.ts';
import { quantitySchema, type SchemasOf } from './inventory.ts';
import { type OrderOf, orderStatuses } from './records.ts';

export const orderStatusSchema = v.picklist(orderStatuses, `must be one of ${orderStatuses.join(', ')}`);

const TIME_RULE = 'must be a time such as 2026-11-21T12:30:00Z';
/** What is a timestamp to ISO 8601 and no date-time to RFC 3339: a space for the T, a short offset. */
const RFC_3339 = /^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)$/;

/** Whether a time is of a day that there is: `Date` makes another of February 30. */
function isOfDay(time: string): boolean {
  const day = time.slice(0, 10);
  return new Date(day).toJSON()?.startsWith(day) ?? false;
}

export type Order = OrderOf<Int64>;

export const orderSchema = v.strictObject({
  id: v.pipe(int64Schema, v.description('The order')),
  petId: v.pipe(int64Schema, v.description('The pet that was ordered')),
  quantity: v.pipe(quantitySchema, v.description('How many of it')),
  shipDate: v.optional(
    v.pipe(
      v.string('must be text'),
      v.isoTimestamp(TIME_RULE),
      v.regex(RFC_3339, TIME_RULE),
      v.check(isOfDay, TIME_RULE),
      v.description('When it is shipped'),
    ),
  ),
  status: v.pipe(orderStatusSchema, v.description('How far it has come')),
  complete: v.pipe(v.boolean('must be true or false'), v.description('Whether all is done')),
} satisfies SchemasOf<Order>);
