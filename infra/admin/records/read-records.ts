import { pipeline, Readable } from 'node:stream';
import { isDeepStrictEqual } from 'node:util';
import { CsvError, type InfoRecord, type Options, parse } from 'csv-parse';
import * as v from 'valibot';
import { duplicateField, parseExactJson } from '../../../shared/contract/exact-json.ts';
import { integerOrText } from '../../../shared/contract/int64.ts';
import { AdminError, reasonOf } from '../service/failures.ts';
import { truncated, visible } from '../service/text.ts';
import { fieldNames, fieldsOf, formatOf, type RecordKind } from './record-kinds.ts';

/** A readable file; each open starts at its beginning. */
export interface Source {
  /** Name for messages. */
  readonly name: string;
  readonly open: () => AsyncIterable<Uint8Array>;
}

/** Maximum bytes of a row, above any valid record, to bound the memory. */
export const MAX_ROW_BYTES = 1_048_576;
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
): AsyncGenerator<Row<Entry> & { readonly line: number }> {
  const format = formatOf(source.name, kind, 'import');
  const { options, valueOf } = format === '.csv' ? csv(source.name, kind.schema.entries) : jsonl;
  const parser = parse({
    ...options,
    info: true,
    max_record_size: MAX_ROW_BYTES,
    relax_column_count: true,
    skip_empty_lines: true,
    // Spreadsheets leave rows such as `,,`.
    skip_records_with_empty_values: true,
  });
  // The loop rethrows failures, and an early end closes the file.
  const rows = pipeline(Readable.from(source.open(), { objectMode: false }), parser, () => undefined);
  try {
    for await (const { record, info } of rows) yield { line: info.lines, ...rowOf(() => valueOf(record, info), kind) };
  } catch (error) {
    if (error instanceof AdminError) throw error;
    if (!(error instanceof CsvError)) throw new AdminError(`Cannot read ${source.name}: ${reasonOf(error)}`);
    yield { line: Number(error.lines ?? 0), fault: truncated(error.message, MAX_FAULT_LENGTH) };
  }
}

/** A row is wrong: the message is its fault. */
class RowError extends Error {}

type Row<Entry> = { readonly entry: Entry } | { readonly fault: string };

function rowOf<Entry>(read: () => unknown, kind: RecordKind<Entry>): Row<Entry> {
  try {
    return { entry: check(read(), kind) };
  } catch (error) {
    if (error instanceof RowError) return { fault: truncated(error.message, MAX_FAULT_LENGTH) };
    throw error;
  }
}

/** How csv-parse reads a format, and the value of a row that it returns. */
interface Reader {
  readonly options: Options;
  /** @throws RowError */
  readonly valueOf: (record: unknown, info: Partial<Pick<InfoRecord, 'error'>>) => unknown;
}

/** @param fields allowed columns; a cell is parsed by the type of its field */
function csv(fileName: string, fields: v.ObjectEntries): Reader {
  const checkColumns = (line: readonly string[]): string[] => {
    const isWanted = (field: string): boolean => line.includes(field) || fields[field]?.type !== 'optional';
    if (isDeepStrictEqual(line.toSorted(), Object.keys(fields).filter(isWanted).toSorted())) return [...line];
    const wanted = fieldNames(fields).join();
    const found = visible(line.join()).slice(0, MAX_FAULT_LENGTH);
    throw new AdminError(`The first line of ${fileName} must be ${wanted}, not ${found}. Nothing was written.`);
  };
  return {
    options: {
      bom: true,
      trim: true,
      columns: checkColumns,
      // Spreadsheets in many locales write semicolons. An export quotes cells with either.
      delimiter: [',', ';'],
      // Excel reads the separator from a first line `sep=;`.
      comment: 'sep=',
      comment_no_infix: true,
      cast: (text, { column, header }) => (header ? text : cellValue(text, fields[column])),
    },
    valueOf(record, { error }) {
      if (error) throw new RowError(error.message);
      return record;
    },
  };
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** One JSON value per line. An int64 is returned as its digits, from a number or a string. */
const jsonl: Reader = {
  options: {
    // JSON has no such character: a line is one cell. As bytes, since invalid UTF-8 must be refused.
    delimiter: '\0',
    encoding: null,
    quote: false,
    record_delimiter: ['\r\n', '\n'],
  },
  valueOf(record) {
    try {
      const cells = v.parse(v.array(v.instance(Buffer)), record);
      const text = cells.map((cell) => utf8.decode(cell)).join('\0');
      const value = parseExactJson(text, true);
      const duplicate = duplicateField(text);
      if (duplicate) throw new Error(`${duplicate.field} is duplicated`);
      return value;
    } catch (error) {
      throw new RowError(`is not valid JSON (${reasonOf(error)})`);
    }
  },
};

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

/** @throws RowError */
function check<Entry>(value: unknown, kind: RecordKind<Entry>): Entry {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new RowError(`must be an object with ${fieldsOf(kind)}`);
  const result = v.safeParse(kind.schema, value, { abortPipeEarly: true });
  if (result.success) return result.output;
  const faults = result.issues.slice(0, 5).map((issue) => truncated(faultOf(issue, kind), MAX_FAULT_LENGTH));
  const more = result.issues.length - faults.length;
  throw new RowError([...faults, ...(more > 0 ? [`and ${more} more`] : [])].join('; '));
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
