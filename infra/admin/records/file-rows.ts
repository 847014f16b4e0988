import { Readable } from 'node:stream';
import { CsvError, parse as parseCsv } from 'csv-parse';
import type * as v from 'valibot';
import { reasonOf } from '../admin-error.ts';

/** A file to be read, from its beginning each time. */
export interface Source {
  /** What the admin knows it by. */
  readonly name: string;
  readonly open: () => AsyncIterable<Uint8Array>;
}

/** A row of a file as it stands there, or why it cannot be read. */
export type FileRow =
  { readonly line: number; readonly value: unknown } | { readonly line: number; readonly fault: string };

/** Above what any record needs, so that a file that is none of ours does not fill the memory. */
export const MAX_ROW_BYTES = 1_048_576;

/**
 * The rows of a CSV file, whose first line names the columns.
 *
 * @param fields what a row may have: a cell is read as the value that its field has
 * @throws what reading the file throws
 */
export async function* csvRows({ open }: Source, fields: v.ObjectEntries): AsyncGenerator<FileRow> {
  const parser = parseCsv({
    bom: true,
    columns: true,
    // Spreadsheets of half the world put semicolons; no cell of ours has either.
    delimiter: [',', ';'],
    info: true,
    max_record_size: MAX_ROW_BYTES,
    skip_empty_lines: true,
    trim: true,
    cast: (text, { column, header }) => (header ? text : cellValue(text, fields[column]?.type)),
  });
  const input = Readable.from(open(), { objectMode: false });
  input.on('error', (error) => parser.destroy(error)).pipe(parser);
  try {
    for await (const { record, info } of parser) yield { line: info.lines, value: record };
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    yield { line: Number(error.lines ?? 0), fault: error.message };
  }
}

const wholeNumber = /^(?:0|[1-9]\d{0,9})$/;
/** Spreadsheets write them in capitals. */
const booleans = new Map([
  ['true', true],
  ['false', false],
]);

/** What a cell means. Text that means nothing stays text, for the rules of its field to refuse. */
function cellValue(text: string, type: string | undefined): unknown {
  if (type === 'number') return wholeNumber.test(text) ? Number(text) : text;
  if (type === 'boolean') return booleans.get(text.toLowerCase()) ?? text;
  if (type === 'optional') return text === '' ? undefined : text;
  return text;
}

const LINE_FEED = 0x0a;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Fields, at any depth, that are int64: as JavaScript numbers they would lose digits. */
const int64Fields = new Set(['id', 'petId']);

/**
 * The rows of a JSON Lines file: a JSON value a line. An int64 comes as its digits, whether it is a number or text.
 *
 * @throws what reading the file throws
 */
export async function* jsonlRows({ open }: Source): AsyncGenerator<FileRow> {
  let line = 0;
  for await (const bytes of linesOf(open())) {
    line += 1;
    if (bytes.length > MAX_ROW_BYTES) {
      yield { line, fault: `is longer than ${MAX_ROW_BYTES} bytes: it must be one record a line` };
      return;
    }
    const row = parse(bytes);
    if (row) yield { line, ...row };
  }
}

/** The lines of a file, as bytes; of one that is too long the beginning, as the last. */
async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let rest: Uint8Array = new Uint8Array();
  for await (const chunk of chunks) {
    const bytes: Buffer = Buffer.concat([rest, chunk]);
    let start = 0;
    for (let end = bytes.indexOf(LINE_FEED); end !== -1; end = bytes.indexOf(LINE_FEED, start)) {
      yield bytes.subarray(start, end);
      start = end + 1;
    }
    rest = bytes.subarray(start);
    if (rest.length > MAX_ROW_BYTES) break;
  }
  if (rest.length > 0) yield rest;
}

function parse(bytes: Uint8Array): { value: unknown } | { fault: string } | undefined {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    return { fault: 'is not UTF-8 text' };
  }
  if (text.trim() === '') return undefined;
  try {
    return { value: parseExactly(text) };
  } catch (error) {
    return { fault: `is not valid JSON (${reasonOf(error)})` };
  }
}

function parseExactly(text: string): unknown {
  return JSON.parse(text, (key, value: unknown, context?: { source?: string }) =>
    typeof value === 'number' && int64Fields.has(key) ? context?.source : value,
  );
}
