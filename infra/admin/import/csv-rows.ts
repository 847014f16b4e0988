import { createReadStream } from 'node:fs';
import { CsvError, parse as parseCsv } from 'csv-parse';
import type * as v from 'valibot';
import { type FileRow, MAX_ROW_BYTES } from './file-row.ts';

/**
 * The rows of a CSV file, whose first line names the columns.
 *
 * @param fields what a row may have: a cell is read as the value that its field has
 * @throws what reading the file throws
 */
export async function* csvRows(file: string, fields: v.ObjectEntries): AsyncGenerator<FileRow> {
  const input = createReadStream(file);
  const parser = parseCsv({
    bom: true,
    columns: true,
    // Spreadsheets of half the world put semicolons; no cell of ours has either.
    delimiter: [',', ';'],
    info: true,
    max_record_size: MAX_ROW_BYTES,
    skip_empty_lines: true,
    trim: true,
    cast: (text, { column, header }) => (header ? text : valueOf(text, fields[column]?.type)),
  });
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
function valueOf(text: string, type: string | undefined): unknown {
  if (type === 'number') return wholeNumber.test(text) ? Number(text) : text;
  if (type === 'boolean') return booleans.get(text.toLowerCase()) ?? text;
  if (type === 'optional') return text === '' ? undefined : text;
  return text;
}
