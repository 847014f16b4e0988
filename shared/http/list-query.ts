import * as v from 'valibot';
import { errorCatalog, ServiceError } from '../contract/errors.ts';
import { type Int64, isInt64, integerOrText } from '../contract/int64.ts';
import { cursorSchema, IDS_RULE, type ListParameters, MAX_IDS } from '../contract/operations.ts';
import { type ApiRequest, quoted } from './request.ts';

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
 * Parses the query of a list, which has its parameters only.
 *
 * @throws ServiceError INVALID_QUERY with a message that names each invalid parameter
 */
export function parseListQuery(query: ApiRequest['query'], parameters: ListParameters) {
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

/** The cursor of a position. It is not secret: an invented one leads to the entries after its id. */
export const encodeCursor = (place: Place): string => Buffer.from(textOf(place)).toString('base64url');

const textOf = ({ list, status = '', after }: Place): string => [list, status, after].join(':');

/** The id of a cursor. @throws ServiceError INVALID_CURSOR if it is malformed, or belongs to another list or status */
export function decodeCursor(cursor: string, { list, status }: Omit<Place, 'after'>): Int64 {
  const text = v.is(cursorSchema, cursor) ? Buffer.from(cursor, 'base64url').toString() : '';
  const after = text.split(':').at(-1) ?? '';
  if (isInt64(after) && text === textOf({ list, status, after })) return after;
  const message = `${errorCatalog.INVALID_CURSOR.message} Use the URL in the Link header unchanged, or start again without a cursor.`;
  throw new ServiceError('INVALID_CURSOR', { message });
}
