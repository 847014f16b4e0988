import { createReadStream } from 'node:fs';
import { Command } from 'commander';
import { exportRecords } from '../records/export-records.ts';
import { importRecords } from '../records/import-records.ts';
import { fieldsOf, formatsOf, orders, pets, type RecordKind, stockEntries } from '../records/record-kinds.ts';
import { onService } from './options.ts';
import { withProgress } from './output.ts';

/** `inventory …`. */
export const inventoryCommand = (): Command => recordsCommand(stockEntries, 'inventory', 'stock levels');

/** `pets …`. */
export const petsCommand = (): Command => recordsCommand(pets, 'pets', 'pet records');

/** `orders …`. */
export const ordersCommand = (): Command => recordsCommand(orders, 'orders', 'orders');

/** `… import FILE` and `… export FILE`, for records of a kind. */
function recordsCommand<Entry>(kind: RecordKind<Entry>, name: string, title: string): Command {
  const group = new Command(name).description(`${title}, from and to files`);
  const fromFile = group
    .command('import')
    .description(`loads ${kind.names[1]} from a file; each replaces the one with its ${kind.idField}`)
    .argument('<file>', `${formatsOf(kind)} file with ${fieldsOf(kind)}`);
  onService(fromFile, async (find, _, file) => {
    const source = { name: file, open: () => createReadStream(file) };
    const { count, message } = await withProgress('Writing', (show) => importRecords(source, kind, find, show));
    return { value: { imported: count, file }, text: message };
  });
  const toFile = group
    .command('export')
    .description(`writes all ${kind.names[1]} to a file that the import reads`)
    .argument('<file>', `${formatsOf(kind)} file; one that exists is replaced`);
  onService(toFile, async (find, _, file) => {
    const { count, message } = await withProgress('Reading', (show) => exportRecords(file, kind, find, show));
    return { value: { exported: count, file }, text: message };
  });
  return group;
}
