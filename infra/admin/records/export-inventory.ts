import { renameSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { extname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { DescribeTableCommand } from '@aws-sdk/client-dynamodb';
import { type InventoryItem, inventoryItemToJson } from '../../../shared/contract/inventory.ts';
import { stockList } from '../../../shared/stores/sorted-table.ts';
import { AdminError, reasonOf } from '../admin-error.ts';
import type { Target } from '../target.ts';
import { number, visible } from '../text-format.ts';
import type { Format, OnProgress, Transfer } from './record-kinds.ts';

/** The formats that the import reads: what a file begins with, and the line of an entry. */
const formats: Readonly<Record<Format, readonly [head: string, row: (entry: InventoryItem) => string]>> = {
  '.csv': ['petId,quantity,status\n', ({ petId, quantity, status }) => `${petId},${quantity},${status}\n`],
  '.jsonl': ['', (entry) => `${inventoryItemToJson(entry)}\n`],
};

/**
 * Writes all stock entries to a file, in ascending petId. The file appears, or is replaced, only when it is complete.
 *
 * @param file path ending in `.csv` or `.jsonl`
 * @returns what was written
 * @throws AdminError where the file cannot be written or the store cannot be read
 */
export async function exportInventory(
  file: string,
  target: () => Promise<Target>,
  onProgress: OnProgress,
): Promise<Transfer> {
  const ending = extname(file).toLowerCase();
  if (ending !== '.csv' && ending !== '.jsonl')
    throw new AdminError(`Cannot export to ${file}: its name must end in .csv or .jsonl.`);
  const source = await target();
  const part = `${file}.part`;
  const removePart = (): void => rmSync(part, { force: true });
  process.once('exit', removePart).once('SIGINT', stop);
  let count = 0;
  const report: OnProgress = (done, total) => {
    count = done;
    onProgress(done, total);
  };
  try {
    const output = await open(part, 'w').catch((error: unknown) => {
      throw new AdminError(`Cannot write ${file}: ${reasonOf(error)}.`);
    });
    try {
      await pipeline(stockText(source, ending, report), output.createWriteStream());
      renameSync(part, file);
    } catch (error) {
      const done = `The export stopped after ${number(count)} entries`;
      throw new AdminError(`${done}: ${reasonOf(error)}. ${file} is as it was; run the same command again.`);
    }
    return { count, message: `Exported ${number(count)} stock entries from ${source.place} to ${visible(file)}.` };
  } finally {
    removePart();
    process.off('exit', removePart).off('SIGINT', stop);
  }
}

/** All stock entries as the text of a file, in parts. */
export async function* stockText(
  { documents, stockTable }: Target,
  format: Format,
  onProgress: OnProgress = () => undefined,
): AsyncGenerator<string> {
  // DynamoDB counts the items of a table every six hours: good enough for a bar.
  const { Table } = await documents.send(new DescribeTableCommand({ TableName: stockTable }));
  const [head, row] = formats[format];
  let written = 0;
  const report = (): void => onProgress(written, Math.max(1, Table?.ItemCount ?? 0, written));
  report();
  yield head;
  for await (const page of stockList(documents, stockTable).all()) {
    written += page.length;
    report();
    yield page.map(row).join('');
  }
}

/** What a shell expects of a program that was interrupted; `exit` listeners still run. */
function stop(): never {
  process.exit(130);
}
