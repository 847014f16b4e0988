import { createReadStream } from 'node:fs';
import { extname } from 'node:path';
import { createInterface } from 'node:readline';
import { CsvError, parse as parseCsv } from 'csv-parse';
import * as v from 'valibot';
import {
  type InventoryItem,
  MAX_QUANTITY,
  petStatusSchema,
  quantitySchema,
} from '../../../shared/contract/inventory.ts';
import { isInt64 } from '../../../shared/contract/int64.ts';
import { AdminError, reasonOf } from '../admin-error.ts';

/** A row of a stock file: the entry, or what is wrong with it. */
export type StockRow =
  { readonly line: number; readonly entry: InventoryItem } | { readonly line: number; readonly fault: string };

interface RawRow {
  readonly line: number;
  readonly value?: unknown;
  readonly fault?: string;
}

const PET_ID_RULE = 'must be an int64 in decimal, such as 42';

const decimal = v.pipe(
  v.string(),
  v.regex(/^(?:0|[1-9]\d{0,9})$/, `must be an integer from 0 to ${MAX_QUANTITY}`),
  v.transform(Number),
);

/** JSON numbers arrive as their digits (see {@link parseExactly}), so an int64 is exact in both formats. */
const rowSchema = v.strictObject({
  petId: v.pipe(v.string(PET_ID_RULE), v.guard(isInt64, PET_ID_RULE)),
  quantity: v.pipe(decimal, quantitySchema),
  status: petStatusSchema,
});

/**
 * Reads a stock file row by row, whatever its size.
 *
 * @param file path ending in `.csv` (columns petId, quantity, status, named in the first line) or `.jsonl`
 * @throws AdminError where the file cannot be read or is of another format
 */
export async function* readStockFile(file: string): AsyncGenerator<StockRow> {
  try {
    for await (const row of rawRows(file)) yield check(row);
  } catch (error) {
    if (error instanceof AdminError) throw error;
    throw new AdminError(`Cannot read ${file}: ${reasonOf(error)}`);
  }
}

function rawRows(file: string): AsyncIterable<RawRow> {
  const format = extname(file).toLowerCase();
  if (format === '.csv') return csvRows(file);
  if (format === '.jsonl') return jsonlRows(file);
  throw new AdminError(`Cannot import ${file}: its name must end in .csv or .jsonl.`);
}

function check({ line, value, fault }: RawRow): StockRow {
  if (fault !== undefined) return { line, fault };
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { line, fault: 'must be an object with petId, quantity and status' };
  }
  const result = v.safeParse(rowSchema, value);
  if (result.success) return { line, entry: result.output };
  return { line, fault: result.issues.map(describe).join('; ') };
}

function describe(issue: v.BaseIssue<unknown>): string {
  const field = v.getDotPath(issue);
  if (issue.type !== 'strict_object') return `${field} ${issue.message}, not ${issue.received}`;
  return issue.expected === 'never' ? `${field} is not known` : `${field} is missing`;
}

async function* csvRows(file: string): AsyncGenerator<RawRow> {
  const input = createReadStream(file);
  const parser = parseCsv({ bom: true, columns: true, info: true, skip_empty_lines: true, trim: true });
  input.on('error', (error) => parser.destroy(error)).pipe(parser);
  try {
    for await (const { record, info } of parser) yield { line: info.lines, value: record };
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    yield { line: Number(error.lines ?? 0), fault: error.message };
  }
}

async function* jsonlRows(file: string): AsyncGenerator<RawRow> {
  const input = createReadStream(file, 'utf8');
  const lines = createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY });
  let line = 0;
  for await (const text of lines) {
    line += 1;
    if (text.trim() !== '') yield { line, ...parseExactly(line === 1 ? text.replace(/^\uFEFF/, '') : text) };
  }
}

/** Parses JSON with numbers as the text they have in the source: a large int64 would not survive as a number. */
function parseExactly(text: string): Pick<RawRow, 'value' | 'fault'> {
  try {
    const value: unknown = JSON.parse(text, (_, part: unknown, context?: { source?: string }) =>
      typeof part === 'number' ? context?.source : part,
    );
    return { value };
  } catch (error) {
    return { fault: `is not valid JSON (${reasonOf(error)})` };
  }
}
