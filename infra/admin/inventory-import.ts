import { Presets, SingleBar } from 'cli-progress';
import { Command } from 'commander';
import type { InventoryItem } from '../../shared/contract/inventory.ts';
import { writeStock } from '../write-stock.ts';
import { AdminError, reasonOf } from './admin-error.ts';
import { readStockFile } from './stock-file.ts';
import { findTarget, type Target, type TargetOptions } from './target.ts';

/** Faults that are listed one by one; a file with more is likely of another format altogether. */
const MAX_LISTED_FAULTS = 20;

/** `inventory import FILE`. */
export function inventoryCommand(): Command {
  const inventory = new Command('inventory').description('stock levels');
  inventory
    .command('import')
    .description('loads stock levels from a file; an entry replaces the one that its pet has')
    .argument('<file>', '.csv or .jsonl file with petId, quantity and status')
    .option('--url <url>', 'address of a running local host', 'http://localhost:3000')
    .option('--table <name>', 'stock table on AWS, with the usual AWS credentials, instead of a local host')
    .action((file: string, options: TargetOptions) => importInventory(file, options));
  return inventory;
}

async function importInventory(file: string, options: TargetOptions): Promise<void> {
  const count = await checkFile(file);
  const target = await findTarget(options);
  await write(file, count, target);
  process.stdout.write(`Imported ${number(count)} stock entries from ${file} into ${target.place}.\n`);
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

async function write(file: string, count: number, { client, stockTable }: Target): Promise<void> {
  const bar = new SingleBar(
    { format: 'Writing {bar} {percentage}% | {value} of {total} | {eta_formatted} left', stream: process.stderr },
    Presets.shades_classic,
  );
  let written = 0;
  bar.start(count, 0);
  try {
    await writeStock(client, stockTable, entriesOf(file), (added) => {
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

const number = (value: number): string => value.toLocaleString('en');
