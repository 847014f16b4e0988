import type { APIGatewayProxyEvent } from 'aws-lambda';
import * as v from 'valibot';
import { ServiceError } from '../contract/errors.ts';
import { duplicateField } from './duplicate-field.ts';
import { isIntegerText } from './integer-text.ts';
import { requestHeader } from './request-header.ts';

/** Many times what any operation needs; the gateway itself takes up to 10 MB. */
export const MAX_BODY_BYTES = 16 * 1024;

const JSON_MEDIA_TYPE = /^application\/json\s*(?:;\s*charset\s*=\s*"?utf-8"?\s*)?$/i;

/**
 * The validated JSON body of a request.
 *
 * @throws ServiceError PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, or INVALID_BODY with a message that names the field
 */
export function parseJsonBody<Schema extends v.GenericSchema>(
  event: APIGatewayProxyEvent,
  schema: Schema,
): v.InferOutput<Schema> {
  const bytes = Buffer.from(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8');
  if (bytes.length > MAX_BODY_BYTES) {
    throw new ServiceError('PAYLOAD_TOO_LARGE', { message: `The body is larger than ${MAX_BODY_BYTES} bytes.` });
  }
  if (bytes.length === 0) throw new ServiceError('INVALID_BODY');
  if (!JSON_MEDIA_TYPE.test(requestHeader(event, 'Content-Type').at(-1)?.trim() ?? ''))
    throw new ServiceError('UNSUPPORTED_MEDIA_TYPE');

  const result = v.safeParse(schema, parseJsonObject(bytes.toString('utf8')));
  if (result.success) return result.output;
  const faults = new Set(result.issues.map(describe));
  throw new ServiceError('INVALID_BODY', { message: [...faults].join(' ') });
}

type Reviver = (name: string, value: unknown, context: { readonly source?: string }) => unknown;

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- TypeScript does not know the context of a reviver yet (ECMAScript 2026)
const parseWithSource = JSON.parse as (text: string, reviver: Reviver) => unknown;

/** A number that only rounding makes an integer is none: NaN, for the schema to refuse under its field's name. */
const asWritten: Reviver = (_, value, { source }) =>
  typeof value === 'number' && source !== undefined && !isIntegerText(source) ? Number.NaN : value;

function parseJsonObject(text: string): object {
  let value: unknown;
  try {
    value = parseWithSource(text, asWritten);
  } catch (error) {
    throw new ServiceError('INVALID_BODY', { message: 'The body is not valid JSON.', cause: error });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new ServiceError('INVALID_BODY');
  const twice = duplicateField(text);
  if (twice !== undefined)
    throw new ServiceError('INVALID_BODY', { message: `The field ${quoted(twice)} is given twice.` });
  return value;
}

/** Field names are the caller's, so they are cut short. */
const quoted = (field: string): string => JSON.stringify(field.slice(0, 40));

/** One sentence about one fault of the body, naming its field. */
function describe(issue: v.BaseIssue<unknown>): string {
  const field = quoted(v.getDotPath(issue) ?? '');
  if (issue.type !== 'strict_object') return `The field ${field} ${issue.message}.`;
  return issue.expected === 'never' ? `The field ${field} is not known.` : `The field ${field} is missing.`;
}
