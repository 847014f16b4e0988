const MAX_LENGTH = 255;

/** The syntax of an `Idempotency-Key` in one sentence, for the document, the guide and the error. */
export const IDEMPOTENCY_KEY_RULE = `1 to ${MAX_LENGTH} printable ASCII characters in double quotes, with a backslash before each inner quote and backslash; the outer quotes are optional without spaces, quotes and backslashes`;

/** The same, {@link MAX_LENGTH} included: a structured field string (RFC 9651 §3.3.3), or as many clients send it. */
// Without the backslashes, other languages read `[` in brackets otherwise.
// oxlint-disable-next-line no-useless-escape
const SYNTAX = /^(?:"(?:[ !#-\[\]-~]|\\["\\]){1,255}"|[!#-\[\]-~]{1,255})$/;

/** As JSON Schema has it. */
export const IDEMPOTENCY_KEY_PATTERN = SYNTAX.source;

/** Quotes, and a backslash before each escaped character. */
export const MAX_HEADER_LENGTH = 2 * MAX_LENGTH + 2;

/** The text of a header value; undefined if its syntax is invalid. */
export function readIdempotencyKey(value: string): string | undefined {
  if (!SYNTAX.test(value)) return undefined;
  return value.startsWith('"') ? value.slice(1, -1).replaceAll(/\\(["\\])/g, '$1') : value;
}
