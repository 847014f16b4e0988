import { Command } from 'commander';
import { type CommonOptions, withCommonOptions } from '../options.ts';
import { number, print } from '../output.ts';
import { findTarget } from '../target.ts';
import { exportInventory } from './export.ts';
import { importInventory } from './import.ts';

/** `inventory …`. */
export function inventoryCommand(): Command {
  const inventory = new Command('inventory').description('stock levels, from and to files');
  withCommonOptions(inventory.command('import'))
    .description('loads stock levels from a file; an entry replaces the one that its pet has')
    .argument('<file>', '.csv or .jsonl file with petId, quantity and status')
    .action(async (file: string, options: CommonOptions) => {
      const { count, place } = await importInventory(file, () => findTarget(options));
      const text = `Imported ${number(count)} stock entries from ${file} into ${place}.`;
      print(options, { imported: count, file }, () => text);
    });
  withCommonOptions(inventory.command('export'))
    .description('writes all stock levels to a file that the import reads')
    .argument('<file>', '.csv or .jsonl file; one that exists is replaced')
    .action(async (file: string, options: CommonOptions) => {
      const { count, place } = await exportInventory(file, () => findTarget(options));
      const text = `Exported ${number(count)} stock entries from ${place} to ${file}.`;
      print(options, { exported: count, file }, () => text);
    });
  return inventory;
}
