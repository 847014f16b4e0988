import * as v from 'valibot';
import { ServiceError } from '../contract/errors.ts';
import { type Int64, int64Schema } from '../contract/int64.ts';
import { cursorSchema, limitSchema, petIdsSchema } from '../contract/list-query.ts';
import { type ApiRequest, quoted } from './request.ts';

/** What a client asked of a list. */
export interface ListQuery<Status extends string> {
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
  readonly status?: Status | undefined;
  /** Only these entries; without any other parameter. */
  readonly petId?: readonly Int64[] | undefined;
}

/** Digits as a number; NaN for anything else, for the schema to refuse. */
const digits = v.pipe(
  v.string(),
  v.transform((text) => (/^\d{1,9}$/.test(text) ? Number(text) : Number.NaN)),
);

const ids = v.pipe(
  v.string(),
  v.transform((text) => text.split(',')),
  petIdsSchema,
);

/**
 * The query parameters of a list.
 *
 * @param hasIds whether entries can be asked for by their ids
 * @throws ServiceError INVALID_QUERY with a message that names each parameter that is wrong
 */
export function parseListQuery<Status extends string>(
  query: ApiRequest['query'],
  status: v.GenericSchema<string, Status>,
  hasIds = false,
): ListQuery<Status> {
  const schema = v.strictObject({
    limit: v.optional(v.pipe(digits, limitSchema)),
    cursor: v.optional(v.string()),
    status: v.optional(status),
    petId: v.optional(hasIds ? ids : v.never()),
  });
  const values = onlyValues(query);
  const result = v.safeParse(schema, values);
  if (result.success && values['petId'] !== undefined && Object.keys(values).length > 1) {
    throw new ServiceError('INVALID_QUERY', { message: 'The parameter "petId" goes with no other.' });
  }
  if (result.success) return result.output;
  throw new ServiceError('INVALID_QUERY', { message: [...new Set(result.issues.map(parameterFault))].join(' ') });
}

function onlyValues(query: ApiRequest['query']): Record<string, string> {
  const parameters = Object.entries(query);
  return Object.fromEntries(
    parameters.map(([name, [value = '', ...others] = []]) => {
      if (others.length === 0) return [name, value];
      throw new ServiceError('INVALID_QUERY', { message: `The parameter ${quoted(name)} is given more than once.` });
    }),
  );
}

function parameterFault(issue: v.BaseIssue<unknown>): string {
  const name = quoted(v.getDotPath(issue)?.split('.')[0] ?? '');
  return issue.expected === 'never' ? `The parameter ${name} is not known.` : `The parameter ${name} ${issue.message}.`;
}

/** A place in a list: after an id, among the entries with a status. */
export interface Place {
  /** The operation that lists. */
  readonly list: string;
  readonly status: string | undefined;
  readonly after: Int64;
}

/** List, status (empty for any) and id. */
const placeSchema = v.strictTuple([v.string(), v.string(), int64Schema]);

const REMEDY = 'Follow the Link header of a page as it is, or begin again without a cursor.';

/** The cursor for a place. It is a position, no secret: one that a client makes up leads to the entries after its id. */
export function encodeCursor({ list, status = '', after }: Place): string {
  return Buffer.from([list, status, after].join(':')).toString('base64url');
}

/**
 * The id that a cursor stands for.
 *
 * @throws ServiceError INVALID_CURSOR where it is malformed, or is of another list or status
 */
export function decodeCursor(cursor: string, { list, status = '' }: Omit<Place, 'after'>): Int64 {
  const text = v.is(cursorSchema, cursor) ? Buffer.from(cursor, 'base64url').toString() : '';
  const place = v.safeParse(placeSchema, text.split(':'));
  if (!place.success) throw invalidCursor('is malformed');
  const [ofList, ofStatus, after] = place.output;
  if (ofList !== list) throw invalidCursor('is of another list');
  if (ofStatus !== status) throw invalidCursor('is of a list with another status');
  return after;
}

const invalidCursor = (fault: string): ServiceError =>
  new ServiceError('INVALID_CURSOR', { message: `The cursor ${fault}. ${REMEDY}` });
