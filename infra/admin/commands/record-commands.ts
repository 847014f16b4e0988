import { createReadStream } from 'node:fs';
import { Command } from 'commander';
import { exportRecords } from '../records/export-records.ts';
import { importRecords } from '../records/import-records.ts';
import { counted, formatsOf, orders, pets, type RecordKind, stockEntries } from '../records/record-kinds.ts';
import { formatNumber } from '../text-format.ts';
import { onService } from './options.ts';
import { type ProgressText, withProgress } from './output.ts';

/** `inventory …`. */
export const inventoryCommand = (): Command =>
  recordsCommand(stockEntries, 'inventory', 'stock levels', 'petId, quantity and status');

/** `pets …`. */
export const petsCommand = (): Command =>
  recordsCommand(pets, 'pets', 'pet records', 'id, name, photoUrls, and where wanted category and tags');

/** `orders …`. */
export const ordersCommand = (): Command =>
  recordsCommand(orders, 'orders', 'orders', 'id, petId, quantity, shipDate (may be empty), status and complete');

/** What is so after an import that was interrupted. */
export const writtenOf =
  (kind: Pick<RecordKind<never>, 'names'>): ProgressText =>
  (written, total) =>
    written === 0
      ? 'Nothing was written.'
      : `${formatNumber(written)} of ${counted(total, kind)} written; run it again to complete it.`;

/** The same after an export. */
export const unchanged =
  (file: string): ProgressText =>
  () =>
    `The export was stopped; ${file} is as it was.`;

/** `… import FILE` and `… export FILE`, for records of a kind. @param content what the file has, for the help */
function recordsCommand<Entry>(kind: RecordKind<Entry>, name: string, title: string, content: string): Command {
  const group = new Command(name).description(`${title}, from and to files`);
  const fromFile = group
    .command('import')
    .description(`loads ${kind.names[1]} from a file; each replaces the one with its ${kind.idField}`)
    .argument('<file>', `${formatsOf(kind)} file with ${content}`);
  onService(fromFile, async (find, _, file) => {
    const source = { name: file, open: () => createReadStream(file) };
    const { count, message } = await withProgress({ doing: 'Writing', interrupted: writtenOf(kind) }, (show) =>
      importRecords(source, kind, find, show),
    );
    return { value: { imported: count, file }, text: message };
  });
  const toFile = group
    .command('export')
    .description(`writes all ${kind.names[1]} to a file that the import reads`)
    .argument('<file>', `${formatsOf(kind)} file; one that exists is replaced`);
  onService(toFile, async (find, _, file) => {
    const { count, message } = await withProgress({ doing: 'Reading', interrupted: unchanged(file) }, (show) =>
      exportRecords(file, kind, find, show),
    );
    return { value: { exported: count, file }, text: message };
  });
  return group;
}
