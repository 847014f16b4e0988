import { Command } from 'commander';
import { exportInventory } from '../records/export-inventory.ts';
import { importRecords } from '../records/import-records.ts';
import { formatsOf, orders, pets, type RecordKind, stockEntries } from '../records/record-kinds.ts';
import { findTarget } from '../target.ts';
import { imported, number } from '../words.ts';
import { type CommonOptions, withCommonOptions } from './options.ts';
import { notices, print, withProgress } from './output.ts';

const EXAMPLE_OF_PET = {
  id: 101,
  category: { id: 1, name: 'dogs' },
  name: 'Labrador Retriever',
  photoUrls: ['https://images.example.com/pets/101.jpg'],
  tags: [{ id: 1, name: 'family' }],
};

/** `inventory …`. */
export function inventoryCommand(): Command {
  const inventory = new Command('inventory')
    .description('stock levels, from and to files')
    .addCommand(importCommand(stockEntries, 'petId, quantity and status'));
  withCommonOptions(inventory.command('export'))
    .description('writes all stock levels to a file that the import reads')
    .argument('<file>', '.csv or .jsonl file; one that exists is replaced')
    .action(async (file: string, options: CommonOptions) => {
      const target = () => findTarget(options, notices);
      const { count, place } = await withProgress('Reading', (onProgress) => exportInventory(file, target, onProgress));
      const text = `Exported ${number(count)} stock entries from ${place} to ${file}.`;
      print(options, { exported: count, file }, () => text);
    });
  return inventory;
}

/** `pets …`. */
export function petsCommand(): Command {
  const example = `\nA line of the file:\n${JSON.stringify(EXAMPLE_OF_PET)}`;
  const importPets = importCommand(pets, 'id, name, photoUrls, and where wanted category and tags');
  return new Command('pets')
    .description('pet records, from files')
    .addCommand(importPets.addHelpText('after', example));
}

/** `orders …`. */
export function ordersCommand(): Command {
  const fields = 'id, petId, quantity, shipDate (may be empty), status and complete';
  return new Command('orders').description('orders, from files').addCommand(importCommand(orders, fields));
}

/** `… import FILE`, for records of a kind. @param content what the file has, for the help */
function importCommand<Entry>(kind: RecordKind<Entry>, content: string): Command {
  const [, several] = kind.names;
  return withCommonOptions(new Command('import'))
    .description(`loads ${several} from a file; each replaces the one with its ${kind.idField}`)
    .argument('<file>', `${formatsOf(kind)} file with ${content}`)
    .action(async (file: string, options: CommonOptions) => {
      const target = () => findTarget(options, notices);
      const transfer = await withProgress('Writing', (onProgress) => importRecords(file, kind, target, onProgress));
      print(options, { imported: transfer.count, file }, () => imported(kind, transfer, file));
    });
}
