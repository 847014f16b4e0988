import { DescribeTableCommand } from '@aws-sdk/client-dynamodb';
import { stringify } from 'csv-stringify/sync';
import { recordToJson } from '../../../shared/contract/exact-json.ts';
import type { Target } from '../target.ts';
import { counted, visible } from '../text-format.ts';
import { type Format, formatOf, type OnProgress, type RecordKind, type Transfer } from './record-kinds.ts';
import { writeWhole } from './write-whole.ts';

/** The import takes a semicolon for the end of a cell, and spaces around one for none of it. */
const csvOptions = { cast: { boolean: String }, quoted_match: /;|^\s|\s$/ };

/** What a file begins with, and the lines of records: what the import reads. */
function textOf<Entry>({ schema }: RecordKind<Entry>, format: Format) {
  const toJsonl = (entries: readonly Entry[]) => entries.map((entry) => `${recordToJson(entry)}\n`).join('');
  if (format === '.jsonl') return { head: '', rows: toJsonl };
  const columns = Object.keys(schema.entries);
  const toCsv = (entries: readonly Entry[]) => stringify([...entries], { ...csvOptions, columns });
  return { head: stringify([columns]), rows: toCsv };
}

/**
 * Writes all records of a kind to a file. The file appears, or is replaced, only when it is complete.
 *
 * @param file path with one of the endings of the kind
 * @returns what was written
 * @throws AdminError where the file cannot be written or the store cannot be read
 */
export async function exportRecords<Entry>(
  file: string,
  kind: RecordKind<Entry>,
  target: () => Promise<Target>,
  onProgress: OnProgress,
): Promise<Transfer> {
  const format = formatOf(file, kind, 'export to');
  const source = await target();
  let count = 0;
  const show: OnProgress = (done, total) => {
    count = done;
    onProgress(done, total);
  };
  await writeWhole(file, recordsText(source, kind, format, show), () => counted(count, ...kind.names));
  return { count, message: `Exported ${counted(count, ...kind.names)} from ${source.place} to ${visible(file)}.` };
}

/** All records of a kind as the text of a file, in parts. */
export async function* recordsText<Entry>(
  target: Target,
  kind: RecordKind<Entry>,
  format: Format,
  onProgress: OnProgress = () => undefined,
): AsyncGenerator<string> {
  // DynamoDB counts the items of a table every six hours: good enough to show how far it came.
  const { Table } = await target.documents.send(new DescribeTableCommand({ TableName: kind.tableOf(target) }));
  const { head, rows } = textOf(kind, format);
  let written = 0;
  const show = (): void => onProgress(written, Math.max(Table?.ItemCount ?? 0, written));
  show();
  yield head;
  for await (const page of kind.all(target)) {
    written += page.length;
    show();
    yield rows(page);
  }
}
