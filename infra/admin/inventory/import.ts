import type { InventoryItem } from '../../../shared/contract/inventory.ts';
import { writeStock } from '../../write-stock.ts';
import { AdminError, reasonOf } from '../admin-error.ts';
import { readStockFile } from './stock-file.ts';
import { number } from '../output.ts';
import type { Target } from '../target.ts';
import { progressBar } from './progress-bar.ts';

/** Faults that are listed one by one; a file with more is likely of another format altogether. */
const MAX_LISTED_FAULTS = 20;

/** Entries that went from one place to another. */
export interface Transfer {
  readonly count: number;
  /** For messages: the store. */
  readonly place: string;
}

/**
 * Loads a stock file into the store.
 *
 * @param target found only once the file is known to be good
 * @returns the number of entries written, and where they went
 * @throws AdminError listing the faults of the file, or saying how far it got
 */
export async function importInventory(file: string, target: () => Promise<Target>): Promise<Transfer> {
  const count = await checkFile(file);
  const store = await target();
  await write(file, count, store);
  return { count, place: store.place };
}

/** Reads the whole file once before anything is written. @returns the number of rows @throws AdminError listing faults */
async function checkFile(file: string): Promise<number> {
  const lineOfPet = new Map<string, number>();
  const faults: string[] = [];
  for await (const row of readStockFile(file)) {
    if ('fault' in row) {
      faults.push(`${file}:${row.line}: ${row.fault}`);
      continue;
    }
    const { petId } = row.entry;
    const earlier = lineOfPet.get(petId);
    if (earlier === undefined) lineOfPet.set(petId, row.line);
    else faults.push(`${file}:${row.line}: petId ${petId} is on line ${earlier} too`);
  }
  if (faults.length > 0) throw new AdminError(describeFaults(faults));
  if (lineOfPet.size === 0) throw new AdminError(`${file} has no rows. Nothing was written.`);
  return lineOfPet.size;
}

function describeFaults(faults: readonly string[]): string {
  const listed = faults.slice(0, MAX_LISTED_FAULTS);
  const more = faults.length - listed.length;
  const rest = more > 0 ? [`… and ${number(more)} more`] : [];
  const rows = faults.length === 1 ? '1 row is wrong' : `${number(faults.length)} rows are wrong`;
  return [...listed, ...rest, `${rows}. Nothing was written.`].join('\n');
}

async function write(file: string, count: number, { documents, stockTable }: Target): Promise<void> {
  const bar = progressBar('Writing');
  let written = 0;
  bar.start(count, 0);
  try {
    await writeStock(documents, stockTable, entriesOf(file), (added) => {
      written += added;
      bar.update(written);
    });
  } catch (error) {
    throw new AdminError(
      `The import stopped after ${number(written)} of ${number(count)} entries: ${reasonOf(error)}. ` +
        'Run the same command again: it writes every entry once more.',
    );
  } finally {
    bar.stop();
  }
}

async function* entriesOf(file: string): AsyncGenerator<InventoryItem> {
  for await (const row of readStockFile(file)) {
    if ('fault' in row) throw new AdminError(`${file} was changed while it was read (line ${row.line})`);
    yield row.entry;
  }
}
