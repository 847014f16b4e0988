import * as v from 'valibot';
import { type Int64, int64Schema } from './int64.ts';
import { quantitySchema, type SchemasOf } from './inventory.ts';
import { type OrderOf, orderStatuses } from './records.ts';

export const orderStatusSchema = v.picklist(orderStatuses, `must be one of ${orderStatuses.join(', ')}`);

const TIME_RULE = 'must be a time such as 2026-11-21T12:30:00Z';
/** Valid in ISO 8601 but not in RFC 3339: a space for the T, a short offset. */
const RFC_3339 = /^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)$/;

/** Whether the day of a time exists: `Date` turns February 30 into another. */
function isOfDay(time: string): boolean {
  const day = time.slice(0, 10);
  return new Date(day).toJSON()?.startsWith(day) ?? false;
}

export type Order = OrderOf<Int64>;

export const orderSchema = v.strictObject({
  id: v.pipe(int64Schema, v.description('The order')),
  petId: v.pipe(int64Schema, v.description('The pet that was ordered')),
  quantity: v.pipe(quantitySchema, v.description('Number of pets')),
  shipDate: v.optional(
    v.pipe(
      v.string('must be text'),
      v.isoTimestamp(TIME_RULE),
      v.regex(RFC_3339, TIME_RULE),
      v.check(isOfDay, TIME_RULE),
      v.description('Shipping date'),
    ),
  ),
  status: v.pipe(orderStatusSchema, v.description('Status of the order')),
  complete: v.pipe(v.boolean('must be true or false'), v.description('Whether the order is complete')),
} satisfies SchemasOf<Order>);
