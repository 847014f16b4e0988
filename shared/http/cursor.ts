import * as v from 'valibot';
import { ServiceError } from '../contract/errors.ts';
import { type Int64, int64Schema } from '../contract/int64.ts';
import { cursorSchema } from '../contract/list-query.ts';

/** A place in a list: after an id, among the entries with a status. */
export interface Place {
  /** The operation that lists. */
  readonly list: string;
  readonly status: string | undefined;
  readonly after: Int64;
}

/** List, status (empty for any) and id. */
const placeSchema = v.strictTuple([v.string(), v.string(), int64Schema]);

/** The cursor for a place. It is a position, no secret: whoever makes one up gets the entries after its id. */
export function encodeCursor({ list, status = '', after }: Place): string {
  return Buffer.from([list, status, after].join(':')).toString('base64url');
}

/**
 * The id that a cursor stands for.
 *
 * @throws ServiceError INVALID_CURSOR for one that is none, or is of another list or status
 */
export function decodeCursor(cursor: string, { list, status = '' }: Omit<Place, 'after'>): Int64 {
  const text = v.is(cursorSchema, cursor) ? Buffer.from(cursor, 'base64url').toString() : '';
  const place = v.safeParse(placeSchema, text.split(':'));
  if (!place.success) throw new ServiceError('INVALID_CURSOR', { message: `The cursor is malformed. ${REMEDY}` });
  const [ofList, ofStatus, after] = place.output;
  if (ofList !== list)
    throw new ServiceError('INVALID_CURSOR', { message: `The cursor is of another list. ${REMEDY}` });
  if (ofStatus !== status) {
    throw new ServiceError('INVALID_CURSOR', { message: `The cursor is of a list with another status. ${REMEDY}` });
  }
  return after;
}

const REMEDY = 'Follow the Link header of a page as it is, or begin again without a cursor.';
