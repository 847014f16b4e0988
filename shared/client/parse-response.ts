import { int64Fields, isInt64 } from '../contract/records.ts';
import type { Limits } from './api-response.ts';

/** An int64 field with its digits, or any other string, so text inside a string never matches as a field. */
const TOKENS = new RegExp(
  String.raw`"(${int64Fields.join('|')})"\s*:\s*(-?\d+)(?=\s*[,}])|"[^"\\]*(?:\\.[^"\\]*)*"`,
  'g',
);

/**
 * Parses a response, its int64 fields as bigint. `JSON.parse` alone would round above 2^53; the reviver's
 * `context.source` is missing on Node.js 20.
 *
 * @throws SyntaxError if the text is not JSON, or an int64 field is not an integer in decimal
 */
export function parseResponse(text: string): unknown {
  const quoted = text.replace(TOKENS, (token: string, field?: string, digits?: string) =>
    field === undefined ? token : `"${field}":"${digits}"`,
  );
  return JSON.parse(quoted, (key, value: unknown) => (int64Fields.includes(key) ? toInt64(value) : value));
}

function toInt64(value: unknown): bigint {
  if (typeof value === 'string' && isInt64(value)) return BigInt(value);
  throw new SyntaxError('An int64 field is not an integer');
}

/** Reads `X-RateLimit-*`. @returns undefined if they are missing, or unknown (a limit of 0) */
export function readLimits(headers: Headers): Limits | undefined {
  const [limit = NaN, remaining = NaN, reset = NaN] = ['Limit', 'Remaining', 'Reset'].map((name) =>
    parseInt(headers.get(`X-RateLimit-${name}`) ?? '', 10),
  );
  return limit > 0 && remaining + reset >= 0 ? { limit, remaining, reset: new Date(reset * 1_000) } : undefined;
}

/** The code and the message of an Error body; neither for any other text. */
export function readErrorBody(text: string): { code?: string; message?: string } {
  try {
    const { code, message }: { code?: unknown; message?: unknown } = Object(JSON.parse(text));
    return typeof code === 'string' && typeof message === 'string' ? { code, message } : {};
  } catch {
    return {};
  }
}
