import { createReadStream } from 'node:fs';
import { Command } from 'commander';
import { exportInventory } from '../records/export-inventory.ts';
import { importRecords } from '../records/import-records.ts';
import { formatsOf, orders, pets, type RecordKind, stockEntries } from '../records/record-kinds.ts';
import { onService } from './options.ts';
import { withProgress } from './output.ts';

const EXAMPLE_OF_PET = {
  id: 101,
  category: { id: 1, name: 'dogs' },
  name: 'Labrador Retriever',
  photoUrls: ['https://images.example.com/pets/101.jpg'],
  tags: [{ id: 1, name: 'family' }],
};

/** `inventory …`. */
export function inventoryCommand(): Command {
  const inventory = new Command('inventory').description('stock levels, from and to files');
  addImport(inventory, stockEntries, 'petId, quantity and status');
  const toFile = inventory
    .command('export')
    .description('writes all stock levels to a file that the import reads')
    .argument('<file>', '.csv or .jsonl file; one that exists is replaced');
  onService(toFile, async (find, _, file) => {
    const { count, message } = await withProgress('Reading', (show) => exportInventory(file, find, show));
    return { value: { exported: count, file }, text: message };
  });
  return inventory;
}

/** `pets …`. */
export function petsCommand(): Command {
  const example = `\nA line of the file:\n${JSON.stringify(EXAMPLE_OF_PET)}`;
  const command = new Command('pets').description('pet records, from files');
  addImport(command, pets, 'id, name, photoUrls, and where wanted category and tags').addHelpText('after', example);
  return command;
}

/** `orders …`. */
export function ordersCommand(): Command {
  const command = new Command('orders').description('orders, from files');
  addImport(command, orders, 'id, petId, quantity, shipDate (may be empty), status and complete');
  return command;
}

/** `… import FILE`, for records of a kind. @param content what the file has, for the help */
function addImport<Entry>(group: Command, kind: RecordKind<Entry>, content: string): Command {
  const fromFile = group
    .command('import')
    .description(`loads ${kind.names[1]} from a file; each replaces the one with its ${kind.idField}`)
    .argument('<file>', `${formatsOf(kind)} file with ${content}`);
  return onService(fromFile, async (find, _, file) => {
    const source = { name: file, open: () => createReadStream(file) };
    const { count, message } = await withProgress('Writing', (show) => importRecords(source, kind, find, show));
    return { value: { imported: count, file }, text: message };
  });
}
