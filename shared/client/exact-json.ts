import { int64Fields } from './schema.ts';

const fields: ReadonlySet<string> = new Set(int64Fields);

/** An int64 field with its digits, or any other string, so that the inside of a string is never taken for a field. */
const TOKENS = new RegExp(
  String.raw`"(${int64Fields.join('|')})"\s*:\s*(-?\d+)(?=\s*[,}])|"[^"\\]*(?:\\.[^"\\]*)*"`,
  'g',
);

/**
 * Parses an answer, its int64 fields as bigint. `JSON.parse` alone would change digits above 2^53. The reviver's
 * `context.source`, which keeps them too, is missing on Node.js 20 and takes twice as long.
 *
 * @throws SyntaxError where the text is not JSON, or has an int64 that is none
 */
export function parseExactJson(text: string): unknown {
  const quoted = text.replace(TOKENS, (token: string, field?: string, digits?: string) =>
    field === undefined ? token : `"${field}":"${digits}"`,
  );
  const value: unknown = JSON.parse(quoted);
  readInt64Fields(value);
  return value;
}

function readInt64Fields(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, child] of Object.entries(value)) {
    if (fields.has(key)) Reflect.set(value, key, toInt64(child));
    else if (typeof child === 'object') readInt64Fields(child);
  }
}

function toInt64(value: unknown): bigint {
  if (typeof value === 'string' && /^-?\d{1,19}$/.test(value)) return BigInt(value);
  // Digits that were not found above are written in an unusual way, such as 1e3.
  if (typeof value === 'number' && Number.isSafeInteger(value)) return BigInt(value);
  throw new SyntaxError('An int64 field has something else');
}
