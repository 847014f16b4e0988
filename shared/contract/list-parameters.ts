import * as v from 'valibot';
import { int64Schema, integerFrom } from './int64.ts';

/** Max entries per page of a list. */
export const MAX_LIMIT = 1_000;

/** Query parameter `limit`: max entries per page. Without it the response is the complete list. */
export const limitSchema = v.pipe(
  integerFrom(1, MAX_LIMIT),
  v.description(
    `Max entries per page; the Link header has the URL of the next. Without it: the complete list, streamed.`,
  ),
);

/** Query parameter `cursor`: where a page begins. Clients copy it from the previous page's `Link` header. */
export const cursorSchema = v.pipe(
  v.string(),
  v.regex(/^[\w-]{1,200}$/, 'must be copied unchanged from a Link header'),
  v.description('Start of the page, copied from the Link header of the previous one'),
);

/** Max entries that a client may request by id. */
export const MAX_IDS = 100;
export const IDS_RULE = `must be 1 to ${MAX_IDS} different int64s with commas between, such as 101,103`;

/** Query parameter `petId`: the entries of these pets; excludes other parameters. */
export const petIdsSchema = v.pipe(
  v.array(int64Schema, IDS_RULE),
  v.maxLength(MAX_IDS, IDS_RULE),
  v.check((ids) => new Set(ids).size === ids.length, IDS_RULE),
  v.description(
    'Only the entries of these pets, strongly consistent; repeated, or once with commas; excludes other parameters',
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
