import { createWriteStream, renameSync, rmSync } from 'node:fs';
import { extname } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { DescribeTableCommand } from '@aws-sdk/client-dynamodb';
import { type InventoryItem, inventoryItemToJson } from '../../../shared/contract/inventory.ts';
import { stockList } from '../../../shared/stores/sorted-table.ts';
import { AdminError, reasonOf } from '../admin-error.ts';
import type { Target } from '../target.ts';
import type { OnProgress, Transfer } from './record-kinds.ts';

interface Format {
  readonly head: string;
  readonly row: (entry: InventoryItem) => string;
}

/** The formats that the import reads, by the ending of the file's name. */
const formats: Readonly<Record<string, Format>> = {
  '.csv': {
    head: 'petId,quantity,status\n',
    row: ({ petId, quantity, status }) => `${petId},${quantity},${status}\n`,
  },
  '.jsonl': { head: '', row: (entry) => `${inventoryItemToJson(entry)}\n` },
};

/**
 * Writes all stock entries to a file, in ascending petId. The file appears, or is replaced, only when it is complete.
 *
 * @param file path ending in `.csv` or `.jsonl`
 * @returns the number of entries, and where they came from
 * @throws AdminError where the file cannot be written or the store cannot be read
 */
export async function exportInventory(
  file: string,
  target: () => Promise<Target>,
  onProgress: OnProgress,
): Promise<Transfer> {
  const format = formats[extname(file).toLowerCase()];
  if (!format) throw new AdminError(`Cannot export to ${file}: its name must end in .csv or .jsonl.`);
  const source = await target();
  const part = `${file}.part`;
  const removePart = (): void => rmSync(part, { force: true });
  process.once('exit', removePart).once('SIGINT', stop);
  let written = 0;
  const report: OnProgress = (done, total) => {
    written = done;
    onProgress(done, total);
  };
  try {
    await pipeline(Readable.from(textOf(source, format, report)), createWriteStream(part));
    renameSync(part, file);
    return { count: written, place: source.place };
  } catch (error) {
    const done = `The export stopped after ${written.toLocaleString('en')} entries`;
    throw new AdminError(`${done}: ${reasonOf(error)}. ${file} is as it was; run the same command again.`);
  } finally {
    removePart();
    process.off('exit', removePart).off('SIGINT', stop);
  }
}

async function* textOf(target: Target, { head, row }: Format, onProgress: OnProgress): AsyncGenerator<string> {
  let total = Math.max(1, await roughCount(target));
  let written = 0;
  onProgress(written, total);
  yield head;
  for await (const page of stockList(target.documents, target.stockTable).all()) {
    written += page.length;
    total = Math.max(total, written);
    onProgress(written, total);
    yield page.map(row).join('');
  }
}

/** What a shell expects of a program that was interrupted; `exit` listeners still run. */
function stop(): never {
  process.exit(130);
}

/** DynamoDB counts the items of a table every six hours: good enough for a bar. */
async function roughCount({ documents, stockTable }: Target): Promise<number> {
  const { Table } = await documents.send(new DescribeTableCommand({ TableName: stockTable }));
  return Table?.ItemCount ?? 0;
}
