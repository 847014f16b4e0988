import { int64Fields, isInt64 } from './records.ts';

declare global {
  interface JSON {
    /** ECMAScript 2026 (JSON.parse source text access), which TypeScript does not declare yet. */
    rawJSON(text: string): unknown;
  }
}

/** The JSON text of a record, with all of its fields: an int64 as a number with all of its digits. */
export const recordToJson = (record: unknown): string =>
  JSON.stringify(record, (name, value: unknown) => (int64Fields.includes(name) ? JSON.rawJSON(String(value)) : value));

/**
 * Parses JSON whose numbers are integers. An int64 becomes text, as a JavaScript number would lose digits. Any
 * other number becomes `JSON.rawJSON`, for the schema to reject under its field's name, as it was sent.
 *
 * @param mayBeText whether an int64 may be text as well as a number
 * @throws SyntaxError
 */
export function parseExactJson(text: string, mayBeText = false): unknown {
  return JSON.parse(text, (name, value: unknown, { source }: { readonly source?: string } = {}) => {
    const isNumber = typeof value === 'number' && source !== undefined;
    if (int64Fields.includes(name) && isNumber) return isInt64(source) ? source : JSON.rawJSON(source);
    if (int64Fields.includes(name)) return mayBeText || source === undefined ? value : JSON.rawJSON(source);
    return isNumber && !(isIntegerText(source) && Number.isSafeInteger(value)) ? JSON.rawJSON(source) : value;
  });
}

const NUMBER = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** Whether the text of a JSON number is an integer, such as `5`, `5.0` or `1e2`, but not `1e-400`. */
function isIntegerText(text: string): boolean {
  const [, whole = '', fraction = '', exponent = '0'] = NUMBER.exec(text) ?? [];
  const digits = whole + fraction;
  let significant = digits.length;
  while (digits[significant - 1] === '0') significant -= 1;
  return significant === 0 || digits.length - significant >= fraction.length - Number(exponent);
}

/** The pieces of a JSON text: strings (names of fields with their colon), brackets, commas, and all between them. */
const PIECES = /("[^"\\]*(?:\\.[^"\\]*)*")(\s*:)?|[{}[\],]|[^"{}[\],]+/gy;

/**
 * The first duplicate field of an object in a valid JSON text, and its row (from 1) if the text is a list.
 * `JSON.parse` would silently use the last value.
 */
export function duplicateField(json: string): { readonly field: string; readonly row: number } | undefined {
  /** The fields of each open object; none for an array. */
  const open: (Set<string> | undefined)[] = [];
  let row = 1;
  for (const [piece, name = '', colon] of json.matchAll(PIECES)) {
    if (piece === '{') open.push(new Set());
    if (piece === '[') open.push(undefined);
    if (piece === '}' || piece === ']') open.pop();
    if (piece === ',' && open.length === 1) row += 1;
    if (colon === undefined) continue;
    const field = String(JSON.parse(name));
    const fields = open.at(-1);
    if (fields?.has(field)) return { field, row };
    fields?.add(field);
  }
  return undefined;
}
