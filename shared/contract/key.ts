import * as v from 'valibot';
import { accesses } from '../keys/key-record.ts';
import { MAX_PER_DAY, planIds } from '../keys/plans.ts';

const countSchema = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(MAX_PER_DAY));

export const keyLimitSchema = v.strictObject({
  window: v.pipe(v.picklist(['minute', 'day']), v.description('UTC minute or UTC day')),
  limit: v.pipe(countSchema, v.description('Max requests per window')),
  remaining: v.pipe(countSchema, v.description('Remaining quota, after this request')),
  resetsAt: v.pipe(v.string(), v.isoTimestamp(), v.description('End of the window')),
});

/** Response of `GET /key`: `KeyDetails`, for the document. */
export const keyDetailsSchema = v.strictObject({
  plan: v.picklist(planIds),
  token: v.optional(v.pipe(v.string(), v.description('Token of the request: its label and last four characters'))),
  access: v.pipe(v.picklist(accesses), v.description('`read`: read-only')),
  expiresAt: v.optional(v.pipe(v.string(), v.isoTimestamp(), v.description('When the key expires; absent: never'))),
  limits: v.pipe(v.array(keyLimitSchema), v.maxLength(2), v.description('All limits of the key')),
});
