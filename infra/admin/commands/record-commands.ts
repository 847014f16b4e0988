import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';
import { Command } from 'commander';
import { exportRecords } from '../records/export-records.ts';
import { countsText, previewImport } from '../records/import-records.ts';
import { fieldsOf, formatsOf, orders, pets, type RecordKind, stockEntries } from '../records/record-kinds.ts';
import { setQuantity } from '../records/set-quantity.ts';
import type { Target } from '../service/target.ts';
import { onService, type Outcome } from './options.ts';
import { confirm, withProgress } from './output.ts';

/** `inventory …`. */
export function inventoryCommand(): Command {
  const inventory = recordsCommand(stockEntries, 'inventory', 'stock levels, and set one');
  const set = inventory
    .command('set')
    .description('Set the quantity of one pet, effective immediately')
    .argument('<petId>', 'id of the pet')
    .argument('<quantity>', 'new quantity');
  onService(set, async (find, _, petId, quantity = '') => {
    const text = await setQuantity(await find(), { petId, quantity });
    return { value: { petId, quantity }, text };
  });
  return inventory;
}

/** `pets …`. */
export const petsCommand = (): Command => recordsCommand(pets, 'pets', 'pet records');

/** `orders …`. */
export const ordersCommand = (): Command => recordsCommand(orders, 'orders', 'orders');

/** `… import FILE` and `… export FILE` for one kind of record. */
function recordsCommand<Entry>(kind: RecordKind<Entry>, name: string, title: string): Command {
  const group = new Command(name).description(`Import and export ${title}`);
  const fromFile = group
    .command('import')
    .description(`Import ${kind.names[1]} from a file; each replaces the record with the same ${kind.idField}`)
    .argument('<file>', `${formatsOf(kind)} file with ${fieldsOf(kind)}`)
    .option('--dry-run', 'show the changes without writing them', false)
    .option('--yes', 'skip the confirmation', false);
  onService<ImportOptions>(fromFile, (find, options, file) => importFile(kind, find, options, file));
  const toFile = group
    .command('export')
    .description(`Export all ${kind.names[1]} to a file that import accepts`)
    .argument('<file>', `${formatsOf(kind)} file; an existing file is overwritten`);
  onService(toFile, async (find, _, argument) => {
    const file = fromUserDirectory(argument);
    const { count, message } = await withProgress('Reading', (show) => exportRecords(file, kind, find, show));
    return { value: { exported: count, file }, text: message };
  });
  return group;
}

type ImportOptions = Readonly<Record<'dryRun' | 'yes', boolean>>;

/** Shows the changes, asks for confirmation on a stage, and writes exactly these changes. */
export async function importFile<Entry>(
  kind: RecordKind<Entry>,
  find: () => Promise<Target>,
  { dryRun, yes }: ImportOptions,
  file: string,
): Promise<Outcome> {
  const source = { name: file, open: () => createReadStream(fromUserDirectory(file)) };
  const preview = await withProgress('Comparing', (show) => previewImport(source, kind, find, show));
  const { counts, largest, largestTitle, write } = preview;
  const lines = [countsText(counts), ...(largest.length > 0 ? [`${largestTitle}:`, ...largest] : [])];
  const planned = { file, ...counts, largest };
  if (dryRun) return { value: planned, text: lines.join('\n') };
  const { stage, place } = await find();
  const isAsked = stage !== undefined && !yes && counts.added + counts.changed > 0;
  if (isAsked) {
    process.stderr.write(`${lines.join('\n')}\n`);
    await confirm(`Import these into ${place}? The replaced values are lost.`);
  }
  const { message, ...done } = await withProgress('Writing', write);
  if (done.changedMeanwhile.length > 0) process.exitCode = 1;
  const left = done.changedMeanwhile.map(
    (id) => `${id} was changed during the command and is not written: run the command again.`,
  );
  const text = [...(isAsked ? [] : lines), message, ...left].join('\n');
  return { value: { ...planned, ...done, imported: done.added + done.changed }, text };
}

/** Resolves a path from the user's directory: npm starts commands in the root of the repository. */
const fromUserDirectory = (file: string): string => resolve(process.env['INIT_CWD'] ?? '', file);
