import { isUtf8 } from 'node:buffer';
import { isDeepStrictEqual } from 'node:util';
import { CsvError, parse } from 'csv-parse/sync';
import * as v from 'valibot';
import { duplicateField, parseExactJson } from '../../../shared/contract/exact-json.ts';
import { integerOrText } from '../../../shared/contract/int64.ts';
import { AdminError, reasonOf } from '../service/failures.ts';
import { formatNumber, truncated, visible } from '../service/text.ts';
import { fieldNames, fieldsOf, formatOf, type RecordKind } from './record-kinds.ts';

export interface Source {
  readonly name: string;
  readonly read: () => Promise<Uint8Array>;
}

/** Maximum bytes of a file, to bound the memory. */
export const MAX_FILE_BYTES = 134_217_728;
/** Maximum length of a row, above any valid record, to bound its faults. */
const MAX_ROW_LENGTH = 1_048_576;
/** Maximum characters of an error, which may quote the file. */
const MAX_FAULT_LENGTH = 200;

/** The rows of a file, as records or errors. @throws AdminError if it cannot be read or has another format */
export async function* readRecords<Entry>(
  { name, read }: Source,
  kind: RecordKind<Entry>,
): AsyncGenerator<Row<Entry> & { readonly line: number }> {
  const format = formatOf(name, kind, 'import');
  const text = await read()
    .then(textOf)
    .catch((error: unknown) => {
      throw new AdminError(`Cannot read ${name}: ${reasonOf(error)}.`);
    });
  const rows = format === '.csv' ? csvRows(name, text, kind.schema.entries) : jsonlRows(text);
  for (const { line, value, fault } of rows)
    yield { line, ...(fault === undefined ? check(value, kind) : { fault: truncated(fault, MAX_FAULT_LENGTH) }) };
}

/** Without a byte order mark. */
function textOf(bytes: Uint8Array): string {
  if (bytes.length > MAX_FILE_BYTES) throw new Error(`it has over ${formatNumber(MAX_FILE_BYTES)} bytes: split it`);
  if (isUtf8(bytes)) return new TextDecoder().decode(bytes);
  throw new Error('its text is not UTF-8, and would lose letters: save it as UTF-8');
}

type Row<Entry> = { readonly entry: Entry } | { readonly fault: string };

/** A row before it is validated: its value, or why it has none. */
interface RawRow {
  readonly line: number;
  readonly value?: unknown;
  readonly fault?: string | undefined;
}

/** @param fields allowed columns; a cell is parsed by the type of its field */
function csvRows(fileName: string, text: string, fields: v.ObjectEntries): RawRow[] {
  const rows: RawRow[] = [];
  const checkColumns = (line: readonly string[]): string[] => {
    const isWanted = (field: string): boolean => line.includes(field) || fields[field]?.type !== 'optional';
    if (isDeepStrictEqual(line.toSorted(), Object.keys(fields).filter(isWanted).toSorted())) return [...line];
    const wanted = fieldNames(fields).join();
    const found = visible(line.join()).slice(0, MAX_FAULT_LENGTH);
    throw new AdminError(`The first line of ${fileName} must be ${wanted}, not ${found}. Nothing was written.`);
  };
  try {
    parse(text, {
      trim: true,
      columns: checkColumns,
      // Spreadsheets in many locales write semicolons. An export quotes cells with either.
      delimiter: [',', ';'],
      // Excel reads the separator from a first line `sep=;`.
      comment: 'sep=',
      comment_no_infix: true,
      cast: (cell, { column, header }) => (header ? cell : cellValue(cell, fields[column])),
      max_record_size: MAX_ROW_LENGTH,
      skip_empty_lines: true,
      // Spreadsheets leave rows such as `,,`.
      skip_records_with_empty_values: true,
      relax_column_count: true,
      on_record: (value, { lines, error }) => void rows.push({ line: lines, value, fault: error?.message }),
    });
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    // After an unbalanced quote, it is not known where rows begin.
    rows.push({ line: Number(error.lines), fault: error.message });
  }
  return rows;
}

/** One JSON value per line. An int64 is returned as its digits, from a number or a string. */
function* jsonlRows(text: string): Generator<RawRow> {
  for (const [index, json] of text.split('\n').entries()) {
    const line = index + 1;
    if (json.length > MAX_ROW_LENGTH) yield { line, fault: 'is too long' };
    else if (json.trim() !== '') yield { line, ...parseJson(json) };
  }
}

function parseJson(json: string): Omit<RawRow, 'line'> {
  try {
    const value = parseExactJson(json, true);
    const duplicate = duplicateField(json);
    return { value, fault: duplicate && `${duplicate.field} is duplicated` };
  } catch (error) {
    return { fault: `is not valid JSON (${reasonOf(error)})` };
  }
}

/** The schema of a cell; an optional one wraps another. */
type Cell = Partial<v.GenericSchema> & { readonly wrapped?: v.GenericSchema };

/** Parses a cell by the schema of its field. Invalid text stays text, and the schema rejects it. */
function cellValue(text: string, { type, wrapped }: Cell = {}): unknown {
  if (type === 'number') return integerOrText(text);
  // Spreadsheets write booleans in capitals.
  if (type === 'boolean') return /^(?:true|false)$/i.test(text) ? text.toLowerCase() === 'true' : text;
  if (type === 'optional') return text === '' ? undefined : cellValue(text, wrapped);
  return text;
}

function check<Entry>(value: unknown, kind: RecordKind<Entry>): Row<Entry> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return { fault: `must be an object with ${fieldsOf(kind)}` };
  const result = v.safeParse(kind.schema, value, { abortPipeEarly: true });
  if (result.success) return { entry: result.output };
  const faults = result.issues.slice(0, 5).map((issue) => truncated(faultOf(issue, kind), MAX_FAULT_LENGTH));
  const more = result.issues.length - faults.length;
  return { fault: truncated([...faults, ...(more > 0 ? [`and ${more} more`] : [])].join('; '), MAX_FAULT_LENGTH) };
}

function faultOf<Entry>(issue: v.BaseIssue<unknown>, { foreignFields }: RecordKind<Entry>): string {
  const field = v.getDotPath(issue) ?? '';
  if (issue.type !== 'strict_object') {
    const { input, message, received } = issue;
    const isRaw = typeof input === 'object' && input !== null && 'rawJSON' in input;
    return `${field} ${message}${isAsInFile(input) ? `, not ${isRaw ? JSON.stringify(input) : received}` : ''}`;
  }
  if (issue.expected === 'Object') return `${field} must be an object, not ${issue.received}`;
  if (issue.expected !== 'never') return `${field} is missing`;
  return `${field} ${foreignFields?.get(field) ?? 'is unknown'}`;
}

/** Whether a value is printed as in the file: an unsafe integer of a CSV file was rounded. */
const isAsInFile = (value: unknown): boolean => typeof value !== 'number' || Number.isSafeInteger(value);
