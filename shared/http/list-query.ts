import * as v from 'valibot';
import { ServiceError } from '../contract/errors.ts';
import { type Int64, int64Schema, integerOrText } from '../contract/int64.ts';
import { cursorSchema, IDS_RULE, type ListParameters, MAX_IDS } from '../contract/operations.ts';
import { type ApiRequest, quoted } from './request.ts';

/** A client's parameters of a list. */
export interface ListQuery {
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
  readonly status?: string | undefined;
  /** Only these entries; excludes other parameters. */
  readonly petId?: readonly Int64[] | undefined;
}

/** The text of a parameter that must not repeat. */
const once = v.pipe(
  v.strictTuple([v.string()], 'must be given once'),
  v.transform(([text]) => text),
);

const integer = v.transform(integerOrText);

/** Ids in one parameter with commas, or in repeated parameters. Too many are rejected before parsing. */
const several = v.pipe(
  v.array(v.string()),
  v.transform((texts) => texts.join(',').split(',', MAX_IDS + 1)),
  v.maxLength(MAX_IDS, IDS_RULE),
);

/**
 * Parses the query of a list.
 *
 * @param query of its parameters only
 * @param parameters of the list
 * @throws ServiceError INVALID_QUERY with a message that names each invalid parameter
 */
export function parseListQuery(query: ApiRequest['query'], parameters: ListParameters): ListQuery {
  const schema = v.object({
    limit: v.optional(v.pipe(once, integer, parameters.limit)),
    cursor: v.optional(once),
    status: v.optional(v.pipe(once, parameters.status)),
    petId: v.optional(parameters.petId ? v.pipe(several, parameters.petId) : v.never()),
  });
  const result = v.safeParse(schema, query);
  if (result.success && result.output.petId && Object.keys(query).length > 1) {
    throw new ServiceError('INVALID_QUERY', { message: 'The parameter "petId" excludes all others: send it alone.' });
  }
  if (result.success) return result.output;
  const byName = Map.groupBy(result.issues, ({ path }) => String(path?.[0].key));
  // Only the first fault of each parameter: there may be one per id.
  const faults = [...byName].map(([name, [issue]]) => {
    const value = query[name]?.join(',') ?? '';
    const found = issue?.type === 'max_length' ? `has ${value.split(',').length} ids` : `is ${quoted(value)}`;
    return `The parameter "${name}" ${found}, but ${issue?.message}.`;
  });
  throw new ServiceError('INVALID_QUERY', { message: faults.join(' ') });
}

/** A position in a list: after an id, among the entries with a status. */
export interface Place {
  /** The list operation. */
  readonly list: string;
  readonly status: string | undefined;
  readonly after: Int64;
}

/** List, status (empty for any) and id. */
const placeSchema = v.strictTuple([v.string(), v.string(), int64Schema]);

const REMEDY = 'Use the URL in the Link header unchanged, or start again without a cursor.';

/** The cursor of a position. It is not secret: an invented one leads to the entries after its id. */
export function encodeCursor({ list, status = '', after }: Place): string {
  return Buffer.from([list, status, after].join(':')).toString('base64url');
}

/**
 * The id of a cursor.
 *
 * @throws ServiceError INVALID_CURSOR if it is malformed, or belongs to another list or status
 */
export function decodeCursor(cursor: string, { list, status = '' }: Omit<Place, 'after'>): Int64 {
  const text = v.is(cursorSchema, cursor) ? Buffer.from(cursor, 'base64url').toString() : '';
  const place = v.safeParse(placeSchema, text.split(':'));
  if (!place.success) throw invalidCursor('is malformed');
  const [ofList, ofStatus, after] = place.output;
  if (ofList !== list) throw invalidCursor('belongs to another list');
  if (ofStatus !== status) throw invalidCursor('belongs to a list with another status');
  return after;
}

const invalidCursor = (fault: string): ServiceError =>
  new ServiceError('INVALID_CURSOR', { message: `The cursor ${fault}. ${REMEDY}` });
