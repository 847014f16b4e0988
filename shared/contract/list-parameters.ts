import * as v from 'valibot';
import { int64Schema, integerFrom } from './int64.ts';

/** The longest page of a list that a client may ask for. */
export const MAX_LIMIT = 1_000;

/** Query parameter `limit`: the length of a page. Without it the answer is the whole list. */
export const limitSchema = v.pipe(
  integerFrom(1, MAX_LIMIT),
  v.description(`Entries on a page; the Link header leads to the next. Without it: the whole list, streamed.`),
);

/** Query parameter `cursor`: where a page begins. Taken from the `Link` header of the page before, never made. */
export const cursorSchema = v.pipe(
  v.string(),
  v.regex(/^[\w-]{1,200}$/, 'must be taken from a Link header as it is'),
  v.description('Where to go on, from the Link header of the page before'),
);

/** The most entries that a client may ask for by their ids. */
export const MAX_IDS = 100;
export const IDS_RULE = `must be 1 to ${MAX_IDS} different int64s with commas between, such as 101,103`;

/** Query parameter `petId`: the entries of these pets, and no other parameter beside it. */
export const petIdsSchema = v.pipe(
  v.array(int64Schema, IDS_RULE),
  v.maxLength(MAX_IDS, IDS_RULE),
  v.check((ids) => new Set(ids).size === ids.length, IDS_RULE),
  v.description(
    'Only the entries of these pets, read consistently; given once for each, or once with commas between; with no other parameter',
  ),
);

/** The query parameters of a list whose entries have one of these statuses. */
export const listParameters = (status: v.PicklistSchema<readonly string[], string>) => ({
  limit: limitSchema,
  cursor: cursorSchema,
  status: v.pipe(status, v.description('Only entries with this status')),
});

export interface ListParameters extends ReturnType<typeof listParameters> {
  readonly petId?: typeof petIdsSchema;
}
