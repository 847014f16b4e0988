const MAX_LENGTH = 255;

/** What an `Idempotency-Key` is, in one sentence: document, page, guide and error say it with these words. */
export const IDEMPOTENCY_KEY_RULE = `one text of 1 to ${MAX_LENGTH} printable ASCII characters in double quotes, with a backslash before each quote and backslash in it; a text without these and without spaces may come without the quotes`;

/** The same as a regular expression: a structured field string (RFC 9651 §3.3.3), or as many clients send it. */
export const IDEMPOTENCY_KEY_PATTERN = String.raw`^(?:"(?:[ !#-\[\]-~]|\\["\\]){1,${MAX_LENGTH}}"|[!#-\[\]-~]{1,${MAX_LENGTH}})$`;

/** Quotes, and a backslash before each character. */
export const MAX_HEADER_LENGTH = 2 * MAX_LENGTH + 2;

const SYNTAX = new RegExp(IDEMPOTENCY_KEY_PATTERN);

/** The text that a header value stands for; undefined where it is none. */
export function readIdempotencyKey(value: string): string | undefined {
  if (!SYNTAX.test(value)) return undefined;
  return value.startsWith('"') ? value.slice(1, -1).replaceAll(/\\(["\\])/g, '$1') : value;
}
