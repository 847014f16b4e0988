import { int64Fields, isInt64 } from '../contract/records.ts';
import type { ApiResponse, Limits } from './api-response.ts';

/** Fields that a record of a response has at least, with their types. */
export type Fields = Readonly<Record<string, string>>;
/** A record, or a list of them. */
export type Shape = Fields | readonly [Fields];

export const ITEM: Fields = { petId: 'bigint', quantity: 'number', status: 'string' };
export const ORDER: Fields = { ...ITEM, id: 'bigint', complete: 'boolean' };
export const PET: Fields = { id: 'bigint', name: 'string', photoUrls: 'object' };
export const KEY: Fields = { plan: 'string', access: 'string', limits: 'object' };
export const ROW: Fields = { petId: 'bigint', status: 'number' };
export const ERROR: Fields = { code: 'string', message: 'string' };

export const isRecord = (value: unknown, fields: Fields = {}): boolean =>
  Object.entries(fields).every(([name, type]) => typeof Object(value)[name] === type);

/** Int64 fields are bigints with all digits. @throws SyntaxError if the text is not JSON of this shape */
export function parseResponse(text: string, shape: Shape): unknown {
  const parsed: unknown = JSON.parse(text, revive);
  const [fields] = [shape].flat();
  const isOfShape = Array.isArray(parsed) === Array.isArray(shape);
  if (isOfShape && [parsed].flat().every((one) => isRecord(one, fields))) return parsed;
  throw new SyntaxError('The JSON is not what this operation returns');
}

/** @param source the digits of a number, which `value` may have lost */
function revive(key: string, value: unknown, { source = '' }: { readonly source?: string } = {}): unknown {
  if (!int64Fields.includes(key)) return value;
  if (isInt64(source)) return BigInt(source);
  throw new SyntaxError('An int64 field is not an integer');
}

/** What a response says beside its body. */
export const metadataOf = (response: Response): Omit<ApiResponse<unknown>, 'data'> => ({
  limits: readLimits(response.headers),
  requestId: response.headers.get('x-amzn-RequestId') ?? undefined,
  etag: response.headers.get('ETag') ?? undefined,
  response,
});

/** Reads `X-RateLimit-*`. @returns undefined if they are missing, or unknown (a limit of 0) */
export function readLimits(headers: Headers): Limits | undefined {
  const [limit = NaN, remaining = NaN, reset = NaN] = ['Limit', 'Remaining', 'Reset'].map((name) =>
    parseInt(headers.get(`X-RateLimit-${name}`) ?? '', 10),
  );
  return limit > 0 && remaining + reset >= 0 ? { limit, remaining, reset: new Date(reset * 1_000) } : undefined;
}

/** Reads `Retry-After`: seconds, or a date by the sender's clock (RFC 9110 §10.2.3). @returns whole seconds */
export function readRetryAfter(headers: Headers): number | undefined {
  const value = headers.get('Retry-After') ?? '';
  if (/^\d{1,9}$/.test(value)) return Number(value);
  const now = Date.parse(headers.get('Date') ?? '') || Date.now();
  const seconds = Math.ceil((Date.parse(value) - now) / 1_000);
  return value.endsWith(' GMT') && !Number.isNaN(seconds) ? Math.max(0, seconds) : undefined;
}

/** The code and the message of an Error body; neither for any other text. */
export function readErrorBody(text: string): { code?: string; message?: string } {
  try {
    const body: { code?: string; message?: string } = Object(JSON.parse(text));
    return isRecord(body, ERROR) ? body : {};
  } catch {
    return {};
  }
}
