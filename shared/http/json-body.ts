import * as v from 'valibot';
import { ServiceError } from '../contract/errors.ts';
import { duplicateField, parseExactJson } from '../contract/exact-json.ts';
import { type InventoryItem, MAX_UPDATES, ROWS_RULE } from '../contract/inventory.ts';
import { allowedMethods } from './response-headers.ts';
import { type ApiRequest, headerValues, quoted, type RequestHeaders } from './request.ts';

/** Many times what any operation needs; the gateway itself takes up to 10 MB. */
export const MAX_BODY_BYTES = 16 * 1024;

/** So many are named: a body can have thousands. */
const MAX_FAULTS = 3;

/** Many times what any operation needs, too. */
const MAX_VALUES = 250;

/** With any parameters: JSON has none (RFC 8259 §11). */
const JSON_MEDIA_TYPE = /^application\/json[ \t]*(?:;|$)/i;
const CHARSET = /;[ \t]*charset="?([^"; \t]*)/i;
/** JSON is UTF-8 (RFC 8259 §8.1), which many clients call utf8. */
const UTF_8 = /^utf-?8$/i;

/**
 * The validated JSON body of a request.
 *
 * @param example a body that the schema takes
 * @throws ServiceError PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, or INVALID_BODY with a message that names the field
 */
export function parseJsonBody<Schema extends v.GenericSchema>(
  request: ApiRequest,
  schema: Schema,
  example: string,
): v.InferOutput<Schema> {
  const { body, headers } = request;
  if (body.length > MAX_BODY_BYTES) {
    throw new ServiceError('PAYLOAD_TOO_LARGE', { message: `The body is larger than ${MAX_BODY_BYTES} bytes.` });
  }
  if (body.length === 0) throw invalid('The body is empty.', example);
  const type = headerValues(headers, 'content-type').at(-1)?.trim();
  const [, charset = 'utf-8'] = CHARSET.exec(type ?? '') ?? [];
  if (type === undefined || !JSON_MEDIA_TYPE.test(type) || !UTF_8.test(charset)) {
    const found = type === undefined ? 'missing' : quoted(type);
    throw unsupported(request, `Content-Type is ${found}: send application/json, in UTF-8.`);
  }
  if (isCompressed(headers)) throw unsupported(request, 'The body must not be compressed: leave Content-Encoding out.');

  // The decoder drops a byte order mark, which parsers may ignore (RFC 8259 §8.1).
  const result = v.safeParse(schema, valueOf(new TextDecoder().decode(body), schema, example));
  if (result.success) return result.output;
  const faults = new Set<string>();
  for (const issue of result.issues) if (faults.size <= MAX_FAULTS) faults.add(bodyFault(issue));
  const more = faults.size > MAX_FAULTS ? ['There are more faults.'] : [];
  throw invalid([...[...faults].slice(0, MAX_FAULTS), ...more].join(' '), example);
}

const invalid = (fault: string, example: string, cause?: unknown): ServiceError =>
  new ServiceError('INVALID_BODY', { message: `${fault} Send JSON such as ${example}.`, cause });

const unsupported = ({ resource }: ApiRequest, message: string): ServiceError =>
  new ServiceError('UNSUPPORTED_MEDIA_TYPE', { headers: allowedMethods(resource), message });

/** Whether `Content-Encoding` names anything but `identity` (RFC 9110 §8.4); empty elements are ignored (§5.6.1). */
function isCompressed(headers: RequestHeaders): boolean {
  const codings = headerValues(headers, 'content-encoding').flatMap((value) => value.split(','));
  return codings.some((coding) => !['', 'identity'].includes(coding.trim().toLowerCase()));
}

/** Parses a JSON text to the schema's type, with a max number of values to bound the time. */
function valueOf(text: string, { type }: v.GenericSchema, example: string): unknown {
  const value = parseJson(text, example);
  const isList = Array.isArray(value);
  if (type === 'array' && !(isList && value.length <= MAX_UPDATES)) throw invalid(`The body ${ROWS_RULE}.`, example);
  const isObject = typeof value === 'object' && value !== null && !isList;
  if (type !== 'array' && !isObject) throw invalid('The body is not a JSON object.', example);
  if (text.split(/[,[{]/, MAX_VALUES).length === MAX_VALUES) throw invalid('The body has too many values.', example);
  const duplicate = duplicateField(text);
  if (!duplicate) return parseExactJson(text);
  const row = isList ? `Row ${duplicate.row}: ` : '';
  throw invalid(`${row}The field ${quoted(duplicate.field)} is a duplicate.`, example);
}

function parseJson(text: string, example: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // V8's message without a position at its end quotes the body, which may contain the same text.
    const [, place] = / \((line \d+ column \d+)\)$/.exec(String(error)) ?? [];
    throw invalid(`The body is not valid JSON${place === undefined ? '' : `: see ${place}`}.`, example, error);
  }
}

/** One sentence about one fault of the body, with its field, and in a list its row. */
function bodyFault(issue: v.BaseIssue<unknown>): string {
  const [row, ...path] = (issue.path ?? []).map(({ key }) => key);
  if (typeof row === 'number') return `Row ${row + 1}: ${fieldFault(path, issue)}`;
  if (row === undefined) return `The body ${issue.message}.`;
  return fieldFault([row, ...path], issue);
}

function fieldFault(path: readonly unknown[], issue: v.BaseIssue<unknown>): string {
  const { type, message, input } = issue;
  if (type === 'check_items') return `It ${message}.`;
  if (path.length === 0) return `It is ${quoted(input)}, but ${message}.`;
  const name = path.join('.');
  const field = `The field ${quoted(name)}`;
  if (type !== 'strict_object') return `${field} is ${quoted(input)}, but ${message}.`;
  if (issue.expected !== 'never') return `${field} is missing.`;
  const where = setters.get(name);
  return where === undefined ? `${field} is unknown.` : `${field} of an entry cannot be set here: ${where}.`;
}

/** Where the fields of an entry are set, if not in this body. */
const setters: ReadonlyMap<string, string> = new Map(
  Object.entries({
    petId: 'it is in the path',
    quantity: 'use PATCH /inventory/{petId}',
    status: 'only admins set it',
  } satisfies Record<keyof InventoryItem, string>),
);
