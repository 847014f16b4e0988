import { lstatSync, realpathSync, renameSync, rmSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { DescribeTableCommand } from '@aws-sdk/client-dynamodb';
import { stringify } from 'csv-stringify/sync';
import { recordToJson } from '../../../shared/contract/exact-json.ts';
import { AdminError, reasonOf } from '../service/failures.ts';
import type { Target } from '../service/target.ts';
import { counted, visible } from '../service/text.ts';
import { type Format, formatOf, type OnProgress, type RecordKind } from './record-kinds.ts';

/** Quotes cells with a semicolon or outer spaces, which the import would split or trim. */
const csvOptions = { cast: { boolean: String }, quoted_match: /;|^\s|\s$/ };

/** Writes all records to a file, replaced only when complete. @throws AdminError if the file or the store fails */
export async function exportRecords<Entry>(
  target: Target,
  file: string,
  kind: RecordKind<Entry>,
  onProgress: OnProgress,
) {
  const format = formatOf(file, kind, 'export to');
  let count = 0;
  const show: OnProgress = (done, total) => {
    count = done;
    onProgress(done, total);
  };
  const { path, part, output } = await openPart(file).catch((error: unknown) => {
    throw new AdminError(`Cannot write ${file}: ${reasonOf(error)}.`);
  });
  const removePart = (): void => rmSync(part, { force: true });
  process.once('exit', removePart);
  try {
    await pipeline(recordsText(target, kind, format, show), output.createWriteStream({ flush: true }));
    renameSync(part, path);
  } catch (error) {
    const stopped = `The export stopped after ${counted(count, ...kind.names)}: ${reasonOf(error)}`;
    throw new AdminError(`${stopped}. ${file} is unchanged. Run the same command again.`);
  } finally {
    removePart();
    process.off('exit', removePart);
  }
  return { count, message: `Exported ${counted(count, ...kind.names)} from ${target.place} to ${visible(file)}.` };
}

/** Opens a file next to the one that it replaces, which may be behind symbolic links, with its mode. */
async function openPart(file: string) {
  const mode = lstatSync(file, { throwIfNoEntry: false }) && statSync(file).mode;
  const path = mode === undefined ? file : realpathSync(file);
  const part = `${path}.part`;
  const output = await open(part, 'w', mode);
  if (mode !== undefined) await output.chmod(mode);
  return { path, part, output };
}

/** The text of a file with all records of a kind, in chunks, as the import accepts it. */
export async function* recordsText<Entry>(
  target: Target,
  kind: RecordKind<Entry>,
  format: Format,
  onProgress: OnProgress = () => undefined,
): AsyncGenerator<string> {
  // DynamoDB updates the count every six hours: good enough for a progress bar.
  const { Table } = await target.documents.send(new DescribeTableCommand({ TableName: target.tables[kind.table] }));
  const columns = Object.keys(kind.schema.entries);
  let written = 0;
  const show = (): void => onProgress(written, Math.max(Table?.ItemCount ?? 0, written));
  show();
  if (format === '.csv') yield stringify([columns]);
  for await (const page of kind.all(target)) {
    written += page.length;
    show();
    if (format === '.csv') yield stringify([...page], { ...csvOptions, columns });
    else yield page.map((entry) => `${recordToJson(entry)}\n`).join('');
  }
}
