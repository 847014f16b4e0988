import * as v from 'valibot';
import { ServiceError } from '../contract/errors.ts';
import { duplicateField, parseExactJson, sourceTexts } from '../contract/exact-json.ts';
import { inventoryItemSchema, MAX_UPDATES, ROWS_RULE } from '../contract/inventory.ts';
import { allowedMethods } from './response-headers.ts';
import { type ApiRequest, headerValues, quoted, type RequestHeaders } from './request.ts';

/** Many times what any operation needs; the gateway itself takes up to 10 MB. */
export const MAX_BODY_BYTES = 16 * 1024;

/** So many are named: a body can have thousands. */
const MOST_FAULTS = 3;

/** Many times what any operation needs, too. */
const MAX_VALUES = 250;

const JSON_MEDIA_TYPE = /^application\/json\s*(?:;\s*charset\s*=\s*"?utf-8"?\s*)?$/i;

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
  if (type === undefined || !JSON_MEDIA_TYPE.test(type)) {
    const found = type === undefined ? 'missing' : quoted(type);
    throw unsupported(request, `Content-Type is ${found}: send application/json.`);
  }
  if (isCompressed(headers)) throw unsupported(request, 'The body must not be compressed: leave Content-Encoding out.');

  const text = body.toString('utf8');
  checkShape(text, schema, example);
  const value = parseExactJson(text);
  checkFieldsOnce(text, Array.isArray(value), example);
  const result = v.safeParse(schema, value);
  if (result.success) return result.output;
  const sent = sourceTexts(text);
  const faults = new Set<string>();
  for (const issue of result.issues) if (faults.size <= MOST_FAULTS) faults.add(bodyFault(issue, sent));
  const more = faults.size > MOST_FAULTS ? ['There are more faults.'] : [];
  throw invalid([...[...faults].slice(0, MOST_FAULTS), ...more].join(' '), example);
}

const invalid = (fault: string, example: string, cause?: unknown): ServiceError =>
  new ServiceError('INVALID_BODY', { message: `${fault} Send JSON such as ${example}.`, cause });

const unsupported = ({ resource }: ApiRequest, message: string): ServiceError =>
  new ServiceError('UNSUPPORTED_MEDIA_TYPE', { headers: allowedMethods(resource), message });

/** Whether `Content-Encoding` names anything but `identity` (RFC 9110 §8.4); empty elements count for nothing (§5.6.1). */
function isCompressed(headers: RequestHeaders): boolean {
  const codings = headerValues(headers, 'content-encoding').flatMap((value) => value.split(','));
  return codings.some((coding) => !['', 'identity'].includes(coding.trim().toLowerCase()));
}

/** Refuses what is no JSON, of another type, or too much, before each value costs time. */
function checkShape(text: string, { type }: v.GenericSchema, example: string): void {
  const value = parseJson(text, example);
  const isList = Array.isArray(value);
  if (type === 'array' && !(isList && value.length <= MAX_UPDATES)) throw invalid(`The body ${ROWS_RULE}.`, example);
  const isObject = typeof value === 'object' && value !== null && !isList;
  if (type !== 'array' && !isObject) throw invalid('The body is no JSON object.', example);
  if (text.split(/[,[{]/, MAX_VALUES).length === MAX_VALUES) throw invalid('The body has too many values.', example);
}

function parseJson(text: string, example: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // A message of V8 without a place at its end quotes the body, which may have the same words.
    const [, place] = / \((line \d+ column \d+)\)$/.exec(String(error)) ?? [];
    throw invalid(`The body is not valid JSON${place === undefined ? '' : `: see ${place}`}.`, example, error);
  }
}

function checkFieldsOnce(text: string, isList: boolean, example: string): void {
  const duplicate = duplicateField(text);
  if (!duplicate) return;
  const row = isList ? `Row ${duplicate.row}: ` : '';
  throw invalid(`${row}The field ${quoted(duplicate.field)} is given twice.`, example);
}

/** One sentence about one fault of the body, naming its field, and in a list its row. @param sent see {@link sourceTexts} */
function bodyFault(issue: v.BaseIssue<unknown>, sent: unknown): string {
  const path = (issue.path ?? []).map(({ key }) => String(key));
  if (path.length === 0) return `The body ${issue.message}.`;
  const found = `is ${shortened(path.reduce(partOf, sent))}, but ${issue.message}`;
  if (!Array.isArray(sent)) return fieldFault(path, issue, found);
  const [row, ...ofRow] = path;
  return `Row ${Number(row) + 1}: ${fieldFault(ofRow, issue, found)}`;
}

const partOf = (value: unknown, name: string): unknown =>
  Object.entries(Object(value)).find(([own]) => own === name)?.[1];

/** A value as it was sent, cut short as {@link quoted} does it. */
function shortened(sent: unknown): string {
  if (typeof sent === 'string') return sent.slice(0, 40);
  return Array.isArray(sent) ? 'an array' : 'an object';
}

function fieldFault(path: readonly string[], issue: v.BaseIssue<unknown>, found: string): string {
  if (path.length === 0) return `It ${issue.type === 'check_items' ? issue.message : found}.`;
  const name = path.join('.');
  const field = `The field ${quoted(name)}`;
  if (issue.type !== 'strict_object') return `${field} ${found}.`;
  if (issue.expected !== 'never') return `${field} is missing.`;
  const isOfEntry = Object.hasOwn(inventoryItemSchema.entries, name);
  return `${field} ${isOfEntry ? 'of an entry cannot be set here' : 'is not known'}.`;
}
