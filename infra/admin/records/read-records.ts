import { extname } from 'node:path';
import * as v from 'valibot';
import { AdminError, reasonOf } from '../admin-error.ts';
import { csvRows, type FileRow, jsonlRows, type Source } from './file-rows.ts';
import { type Format, formatsOf, type RecordKind } from './record-kinds.ts';

/** A row of a file: the record, or what is wrong with it. */
export type RecordRow<Entry> =
  { readonly line: number; readonly entry: Entry } | { readonly line: number; readonly fault: string };

/** Faults of one row that are named. */
const MAX_NAMED_FAULTS = 5;
/** Characters of a fault, which may quote the file. */
const MAX_FAULT_LENGTH = 200;

const readers: Readonly<Record<Format, (source: Source, fields: v.ObjectEntries) => AsyncIterable<FileRow>>> = {
  '.csv': csvRows,
  '.jsonl': jsonlRows,
};

/**
 * Reads a file of records row by row, whatever its size.
 *
 * @param source its name has one of the endings of the kind: `.csv` (its first line names the columns) or `.jsonl`
 * @throws AdminError where the file cannot be read or is of another format
 */
export async function* readRecords<Entry>(source: Source, kind: RecordKind<Entry>): AsyncGenerator<RecordRow<Entry>> {
  const ending = extname(source.name).toLowerCase();
  const format = kind.formats.find((known) => known === ending);
  if (!format) {
    const reason = kind.formatReason === undefined ? '' : `: ${kind.formatReason}`;
    throw new AdminError(`Cannot import ${source.name}: its name must end in ${formatsOf(kind)}${reason}.`);
  }
  try {
    for await (const row of readers[format](source, kind.schema.entries)) yield check(row, kind);
  } catch (error) {
    throw new AdminError(`Cannot read ${source.name}: ${reasonOf(error)}`);
  }
}

function check<Entry>(row: FileRow, kind: RecordKind<Entry>): RecordRow<Entry> {
  if ('fault' in row) return { line: row.line, fault: oneLine(row.fault) };
  const { line, value } = row;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { line, fault: `must be an object with ${requiredFields(kind.schema.entries)}` };
  }
  const result = v.safeParse(kind.schema, value, { abortPipeEarly: true });
  return result.success ? { line, entry: result.output } : { line, fault: describe(result.issues, kind) };
}

/** `petId, quantity and status`. */
function requiredFields(entries: v.ObjectEntries): string {
  const names = Object.keys(entries).filter((name) => entries[name]?.type !== 'optional');
  return new Intl.ListFormat('en-GB').format(names);
}

function describe<Entry>(issues: readonly v.BaseIssue<unknown>[], kind: RecordKind<Entry>): string {
  const faults = issues.slice(0, MAX_NAMED_FAULTS).map((issue) => oneLine(describeIssue(issue, kind)));
  const more = issues.length - faults.length;
  return [...faults, ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
}

function describeIssue<Entry>(issue: v.BaseIssue<unknown>, { foreignFields }: RecordKind<Entry>): string {
  const field = v.getDotPath(issue) ?? '';
  if (issue.type !== 'strict_object') return `${field} ${issue.message}, not ${issue.received}`;
  if (issue.expected === 'Object') return `${field} must be an object, not ${issue.received}`;
  if (issue.expected !== 'never') return `${field} is missing`;
  const reason = foreignFields?.get(field);
  return reason === undefined ? `${field} is not known` : `${field} ${reason}`;
}

/** A fault may quote what stands in the file: line ends, and whatever else a terminal would act on. */
function oneLine(text: string): string {
  const safe = text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ');
  return safe.length > MAX_FAULT_LENGTH ? `${safe.slice(0, MAX_FAULT_LENGTH)}…` : safe;
}
