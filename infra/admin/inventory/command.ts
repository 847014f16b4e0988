import { Command } from 'commander';
import { importCommand } from '../import/import-command.ts';
import { type CommonOptions, withCommonOptions } from '../options.ts';
import { number, print } from '../output.ts';
import { findTarget } from '../target.ts';
import { exportInventory } from './export.ts';
import { stockEntries } from './stock-entries.ts';

/** `inventory …`. */
export function inventoryCommand(): Command {
  const inventory = new Command('inventory')
    .description('stock levels, from and to files')
    .addCommand(importCommand(stockEntries, 'petId, quantity and status'));
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
