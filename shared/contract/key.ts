import * as v from 'valibot';
import { accesses } from '../keys/key-record.ts';
import { MAX_PER_DAY, planIds } from '../keys/plans.ts';

const countSchema = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(MAX_PER_DAY));

export const keyLimitSchema = v.strictObject({
  window: v.pipe(v.picklist(['minute', 'day']), v.description('The UTC minute or the UTC day')),
  limit: v.pipe(countSchema, v.description('Requests that it has room for')),
  remaining: v.pipe(countSchema, v.description('Requests that are left, after this one')),
  resetsAt: v.pipe(v.string(), v.isoTimestamp(), v.description('When it ends')),
});

/** What `GET /key` answers: `KeyDetails`, for the document. */
export const keyDetailsSchema = v.strictObject({
  plan: v.picklist(planIds),
  token: v.optional(v.pipe(v.string(), v.description('The one that asks, by its label and last four characters'))),
  access: v.pipe(v.picklist(accesses), v.description('`read`: it changes nothing')),
  expiresAt: v.optional(
    v.pipe(v.string(), v.isoTimestamp(), v.description('When it stops working; absent: it does not')),
  ),
  limits: v.pipe(v.array(keyLimitSchema), v.maxLength(2), v.description('All that limit it')),
});
