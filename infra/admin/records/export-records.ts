import { DescribeTableCommand } from '@aws-sdk/client-dynamodb';
import type { Target } from '../target.ts';
import { visible } from '../text-format.ts';
import { counted, type Format, formatOf, type OnProgress, type RecordKind, type Transfer } from './record-kinds.ts';
import { writeWhole } from './write-whole.ts';

/** No text of a kind that has this format has a comma or a quote. */
const cellOf = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));

/** What a file begins with, and the line of a record: what the import reads. */
function textOf<Entry>({ schema, toJson }: RecordKind<Entry>, format: Format) {
  if (format === '.jsonl') return { head: '', row: (entry: Entry) => `${toJson(entry)}\n` };
  const columns = Object.keys(schema.entries);
  const row = (entry: Entry): string => {
    const values = new Map<string, unknown>(Object.entries(Object(entry)));
    return `${columns.map((column) => cellOf(values.get(column))).join()}\n`;
  };
  return { head: `${columns.join()}\n`, row };
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
  const report: OnProgress = (done, total) => {
    count = done;
    onProgress(done, total);
  };
  await writeWhole(file, recordsText(source, kind, format, report), () => counted(count, kind));
  return { count, message: `Exported ${counted(count, kind)} from ${source.place} to ${visible(file)}.` };
}

/** All records of a kind as the text of a file, in parts. */
export async function* recordsText<Entry>(
  target: Target,
  kind: RecordKind<Entry>,
  format: Format,
  onProgress: OnProgress = () => undefined,
): AsyncGenerator<string> {
  // DynamoDB counts the items of a table every six hours: good enough for a bar.
  const { Table } = await target.documents.send(new DescribeTableCommand({ TableName: kind.tableOf(target) }));
  const { head, row } = textOf(kind, format);
  let written = 0;
  const report = (): void => onProgress(written, Math.max(1, Table?.ItemCount ?? 0, written));
  report();
  yield head;
  for await (const page of kind.listOf(target).all()) {
    written += page.length;
    report();
    yield page.map(row).join('');
  }
}
