import { renameSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { DescribeTableCommand } from '@aws-sdk/client-dynamodb';
import { stringify } from 'csv-stringify/sync';
import { recordToJson } from '../../../shared/contract/exact-json.ts';
import { AdminError, reasonOf } from '../service/failures.ts';
import type { Target } from '../service/target.ts';
import { counted, visible } from '../service/text.ts';
import { type Format, formatOf, type OnProgress, type RecordKind, type Transfer } from './record-kinds.ts';

/** Quotes cells with a semicolon or outer spaces, which the import would split or trim. */
const csvOptions = { cast: { boolean: String }, quoted_match: /;|^\s|\s$/ };

/** Header and rows of a file, as the import accepts them. */
function textOf<Entry>({ schema }: RecordKind<Entry>, format: Format) {
  const toJsonl = (entries: readonly Entry[]) => entries.map((entry) => `${recordToJson(entry)}\n`).join('');
  if (format === '.jsonl') return { head: '', rows: toJsonl };
  const columns = Object.keys(schema.entries);
  const toCsv = (entries: readonly Entry[]) => stringify([...entries], { ...csvOptions, columns });
  return { head: stringify([columns]), rows: toCsv };
}

/**
 * Writes all records of a kind to a file, which is created or replaced only when it is complete.
 *
 * @param file path with a supported extension
 * @returns the count, and a sentence
 * @throws AdminError if the file cannot be written or the store cannot be read
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

/** The text of a file with all records of a kind, in chunks. */
export async function* recordsText<Entry>(
  target: Target,
  kind: RecordKind<Entry>,
  format: Format,
  onProgress: OnProgress = () => undefined,
): AsyncGenerator<string> {
  // DynamoDB updates the count every six hours: good enough for a progress bar.
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

/**
 * Writes a file that is created or replaced only when it is complete.
 *
 * @param soFar describes the progress
 * @throws AdminError if the file cannot be written, or the text cannot be read
 */
async function writeWhole(file: string, text: AsyncIterable<string>, soFar: () => string): Promise<void> {
  const part = `${file}.part`;
  const removePart = (): void => rmSync(part, { force: true });
  process.once('exit', removePart);
  try {
    const output = await open(part, 'w').catch((error: unknown) => {
      throw new AdminError(`Cannot write ${file}: ${reasonOf(error)}.`);
    });
    try {
      await pipeline(text, output.createWriteStream({ flush: true }));
      renameSync(part, file);
    } catch (error) {
      const stopped = `The export stopped after ${soFar()}: ${reasonOf(error)}`;
      throw new AdminError(`${stopped}. ${file} is unchanged. Run the same command again.`);
    }
  } finally {
    removePart();
    process.off('exit', removePart);
  }
}
