import { pipeline, Readable } from 'node:stream';
import { isDeepStrictEqual } from 'node:util';
import { CsvError, parse as parseCsv } from 'csv-parse';
import * as v from 'valibot';
import { duplicateField, parseExactJson } from '../../../shared/contract/exact-json.ts';
import { integerOrText } from '../../../shared/contract/int64.ts';
import { AdminError, reasonOf } from '../service/failures.ts';
import { visible } from '../service/text.ts';
import { fieldNames, fieldsOf, type Format, formatOf, type RecordKind } from './record-kinds.ts';

/** A readable file; each open starts at its beginning. */
export interface Source {
  /** Name for messages. */
  readonly name: string;
  readonly open: () => AsyncIterable<Uint8Array>;
}

/** Error of a row. */
export interface Fault {
  readonly line: number;
  readonly fault: string;
}

/** Maximum bytes of a row, above any valid record, to bound the memory. */
export const MAX_ROW_BYTES = 1_048_576;
/** Maximum errors reported per row. */
const MAX_NAMED_FAULTS = 5;
/** Maximum characters of an error, which may quote the file. */
const MAX_FAULT_LENGTH = 200;

/**
 * Streams the rows of a file: each with its line number, as a record or an error.
 *
 * @param source `.csv` (its first line names the columns) or `.jsonl`
 * @throws AdminError if the file cannot be read or has another format
 */
export async function* readRecords<Entry>(
  source: Source,
  kind: RecordKind<Entry>,
): AsyncGenerator<{ readonly line: number; readonly entry: Entry } | Fault> {
  const format = formatOf(source.name, kind, 'import');
  try {
    for await (const row of readers[format](source, kind.schema.entries)) {
      const { line } = row;
      yield 'fault' in row ? { line, fault: oneLine(row.fault) } : { line, ...check(row.value, kind) };
    }
  } catch (error) {
    if (error instanceof AdminError) throw error;
    throw new AdminError(`Cannot read ${source.name}: ${reasonOf(error)}`);
  }
}

/** An unparsed row, or why it cannot be read. */
type Row = { readonly line: number; readonly value: unknown } | Fault;

const readers: Readonly<Record<Format, (source: Source, fields: v.ObjectEntries) => AsyncGenerator<Row>>> = {
  '.csv': csvRows,
  '.jsonl': jsonlRows,
};

/** @param fields allowed columns; a cell is parsed by the type of its field */
async function* csvRows({ name, open }: Source, fields: v.ObjectEntries): AsyncGenerator<Row> {
  let names: string[] = [];
  const checkColumns = (line: readonly string[]): string[] => {
    names = [...line];
    const isWanted = (field: string): boolean => line.includes(field) || fields[field]?.type !== 'optional';
    if (isDeepStrictEqual(line.toSorted(), Object.keys(fields).filter(isWanted).toSorted())) return names;
    const wanted = fieldNames(fields).join();
    const found = visible(line.join()).slice(0, MAX_FAULT_LENGTH);
    throw new AdminError(`The first line of ${name} must be ${wanted}, not ${found}. Nothing was written.`);
  };
  const toRows = parseCsv({
    bom: true,
    columns: checkColumns,
    // Spreadsheets in many locales write semicolons. An export quotes cells with either.
    delimiter: [',', ';'],
    info: true,
    max_record_size: MAX_ROW_BYTES,
    relax_column_count: true,
    skip_empty_lines: true,
    trim: true,
    cast: (text, { column, header }) => (header ? text : cellValue(text, fields[column])),
  });
  // The loop rethrows failures, and an early end closes the file.
  const rows = pipeline(Readable.from(open(), { objectMode: false }), toRows, () => undefined);
  try {
    for await (const { record, info } of rows) {
      const line: number = info.lines;
      const cells = info.error?.record?.length;
      if (cells === undefined) yield { line, value: record };
      else
        yield { line, fault: `has ${cells} cells, but the first line names ${names.length} columns: ${names.join()}` };
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    yield { line: Number(error.lines ?? 0), fault: error.message };
  }
}

/** Parses a cell by the type of its field. Invalid text stays text, and the schema rejects it. */
function cellValue(text: string, field: Field | undefined): unknown {
  const { type, wrapped } = field ?? {};
  if (type === 'number') return integerOrText(text);
  // Spreadsheets write booleans in capitals.
  if (type === 'boolean') return /^(?:true|false)$/i.test(text) ? text.toLowerCase() === 'true' : text;
  if (type === 'optional') return text === '' ? undefined : cellValue(text, wrapped);
  return text;
}

/** The parts used of a field's schema. */
interface Field {
  readonly type?: string;
  /** Only of an optional schema. */
  readonly wrapped?: v.GenericSchema;
}

const LINE_FEED = 0x0a;

/** One JSON value per line. */
async function* jsonlRows({ open }: Source): AsyncGenerator<Row> {
  let line = 0;
  let rest: Uint8Array = new Uint8Array();
  for await (const chunk of open()) {
    const bytes: Buffer = Buffer.concat([rest, chunk]);
    let start = 0;
    for (let end = bytes.indexOf(LINE_FEED); end !== -1; end = bytes.indexOf(LINE_FEED, start)) {
      yield* jsonRow((line += 1), bytes.subarray(start, end));
      start = end + 1;
    }
    rest = bytes.subarray(start);
    if (rest.length > MAX_ROW_BYTES) break;
  }
  yield* jsonRow(line + 1, rest);
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** The row of a line; none for an empty line. An int64 is returned as its digits, from a number or a string. */
function* jsonRow(line: number, bytes: Uint8Array): Generator<Row> {
  if (bytes.length > MAX_ROW_BYTES) {
    yield { line, fault: `is longer than ${MAX_ROW_BYTES} bytes: one record per line is expected` };
    return;
  }
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    yield { line, fault: 'is not UTF-8 text' };
    return;
  }
  if (text.trim() === '') return;
  try {
    const value = parseExactJson(text, true);
    const duplicate = duplicateField(text);
    yield duplicate ? { line, fault: `${duplicate.field} is duplicated` } : { line, value };
  } catch (error) {
    yield { line, fault: `is not valid JSON (${reasonOf(error)})` };
  }
}

/** A record, or its error. */
type Checked<Entry> = { readonly entry: Entry } | { readonly fault: string };

function check<Entry>(value: unknown, kind: RecordKind<Entry>): Checked<Entry> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return { fault: `must be an object with ${fieldsOf(kind)}` };
  const result = v.safeParse(kind.schema, value, { abortPipeEarly: true });
  if (result.success) return { entry: result.output };
  const faults = result.issues.slice(0, MAX_NAMED_FAULTS).map((issue) => oneLine(faultOf(issue, kind)));
  const more = result.issues.length - faults.length;
  return { fault: [...faults, ...(more > 0 ? [`and ${more} more`] : [])].join('; ') };
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

/** Truncates an error, which may quote the file. */
function oneLine(text: string): string {
  const safe = visible(text);
  return safe.length > MAX_FAULT_LENGTH ? `${safe.slice(0, MAX_FAULT_LENGTH)}…` : safe;
}
