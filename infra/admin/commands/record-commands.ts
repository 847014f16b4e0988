import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { Argument, Command, Option } from 'commander';
import { type PetStatus, petStatuses } from '../../../shared/contract/records.ts';
import { tableNames } from '../../tables.ts';
import { findStock, removalTexts, removeStock, setStock } from '../records/change-stock.ts';
import { inputs } from '../keys/inputs.ts';
import { exportRecords } from '../records/export-records.ts';
import { differencesText, previewImport } from '../records/import-records.ts';
import { fieldsOf, formatsOf, orders, pets, type RecordKind, stockEntries } from '../records/record-kinds.ts';
import { type RestoreOptions, restoreTable } from '../records/restore-table.ts';
import { AdminError } from '../service/failures.ts';
import type { Target } from '../service/target.ts';
import { countsText } from '../service/text.ts';
import { onService, type Outcome, outcome } from './options.ts';
import { confirm, withProgress } from './output.ts';
import { addHistoryCommands } from './stock-history-commands.ts';

const reasonOption = [inputs.reason.flag, inputs.reason.hint, inputs.reason.parse] as const;

export function inventoryCommand(): Command {
  const inventory = recordsCommand(
    stockEntries,
    'inventory',
    'stock levels; set or remove one, and see who changed it',
  );
  const set = inventory
    .command('set')
    .description('Set the quantity of one pet, its status or both, effective immediately')
    .argument('<petId>', 'id of the pet')
    .argument('[quantity]', 'new quantity')
    .addOption(new Option('--status <status>', 'new status').choices(petStatuses));
  onService<{ readonly status?: PetStatus; readonly reason?: string }>(
    set.option(...reasonOption),
    (target, { status, reason }, petId, quantity) => setStock(target, { petId, quantity, status, reason }),
  );
  const remove = inventory
    .command('remove')
    .description('Remove the stock entry of one pet, effective immediately; the pet itself stays')
    .argument('<petId>', 'id of the pet')
    .option('--yes', 'skip the confirmation', false);
  remove.option(...reasonOption);
  onService<{ readonly yes: boolean; readonly reason?: string }>(remove, async (target, { yes, reason }, petId) => {
    const found = await findStock(target, petId);
    const { what, putBack } = removalTexts(target, found.entry);
    if (!yes) await confirm(`Remove ${what}? ${putBack}`);
    return removeStock(target, found, reason);
  });
  addHistoryCommands(inventory);
  return inventory;
}

export const petsCommand = (): Command => recordsCommand(pets, 'pets', 'pet records');
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
  if (kind.table === 'stock') fromFile.option(...reasonOption);
  onService<ImportOptions>(fromFile, (target, options, file) => importFile(target, kind, options, file));
  const toFile = group
    .command('export')
    .description(`Export all ${kind.names[1]} to a file that import accepts`)
    .argument('<file>', `${formatsOf(kind)} file; an existing file is overwritten`);
  onService(toFile, async (target, _, argument) => {
    const file = fromUserDirectory(argument);
    const { count, message } = await withProgress('Reading', (show) => exportRecords(target, file, kind, show));
    return { value: { exported: count, file }, text: message };
  });
  return group;
}

type ImportOptions = Readonly<Record<'dryRun' | 'yes', boolean>> & { readonly reason?: string };

/** Shows the changes, asks for confirmation on a stage, and writes exactly these changes. */
export async function importFile<Entry>(
  target: Target,
  kind: RecordKind<Entry>,
  { dryRun, yes, reason }: ImportOptions,
  file: string,
): Promise<Outcome> {
  const source = { name: file, read: () => readFile(fromUserDirectory(file)) };
  const preview = await withProgress('Comparing', (show) => previewImport(target, source, kind, show));
  const { counts, largest, largestTitle, write } = preview;
  const lines = [differencesText(counts), ...(largest.length > 0 ? [`${largestTitle}:`, ...largest] : [])];
  const planned = { file, ...counts, largest };
  if (dryRun) return { value: planned, text: lines.join('\n') };
  const isAsked = target.stage !== undefined && !yes && counts.added + counts.changed > 0;
  if (isAsked) {
    process.stderr.write(`${lines.join('\n')}\n`);
    await confirm(`Import these into ${target.place}? The replaced values are lost.`);
  }
  const { message, ...done } = await withProgress('Writing', (show) => write(show, reason));
  const text = [...(isAsked ? [] : lines), message, ...linesOfUnwritten(done.changedMeanwhile)].join('\n');
  return { value: { ...planned, ...done, imported: done.added + done.changed }, text };
}

export function restoreCommand(): Command {
  const command = new Command('restore')
    .description('Copy missing items from a table that DynamoDB or AWS Backup has restored')
    .addArgument(new Argument('<table>', 'live table').choices(tableNames))
    .requiredOption('--from <name>', 'restored table, in the same account and region')
    .option('--exact', 'stock, pets, orders: also overwrite items that differ and delete items added since', false)
    .option('--open', 'keys: restore them active; later revocations and suspensions are lost', false)
    .option('--dry-run', 'count the changes without writing them', false)
    .option('--yes', 'skip the confirmation', false);
  return onService<RestoreOptions & { readonly yes: boolean }>(command, async (target, { yes, ...options }, text) => {
    const table = tableNames.find((name) => name === text) ?? 'stock';
    const { exact, open, dryRun, from } = options;
    if (exact && !['stock', 'pets', 'orders'].includes(table))
      throw new AdminError(`--exact is not supported for ${table}.`);
    const run = (isDry: boolean) =>
      withProgress(isDry ? 'Comparing' : 'Writing', (show) =>
        restoreTable(target, table, { ...options, dryRun: isDry }, show),
      );
    if (!dryRun && !yes) {
      const effect = exact ? 'Changes since the copy are lost.' : 'Existing items stay unchanged.';
      const keys = table === 'keys' && !open ? ' Keys are restored suspended.' : '';
      const { added, changed, deleted } = await run(true);
      const counts = countsText({ added, changed, deleted });
      await confirm(`Restore ${table} of ${target.place} from ${from}: ${counts}? ${effect}${keys}`);
    }
    const done = await run(dryRun);
    return outcome(done, ({ changedMeanwhile, lost, ...counts }) =>
      [
        `${dryRun ? 'To do' : 'Done'}: ${countsText(counts)}.`,
        ...linesOfUnwritten(changedMeanwhile),
        ...lost.map(
          (key) =>
            `${key} was created in the AWS console, and is not restored. If API Gateway still has it, the next sync adds it as it is there: active, unless it is disabled there. Otherwise create another key.`,
        ),
      ].join('\n'),
    );
  });
}

/** A line for each record that another command has changed meanwhile. With any, the command fails. */
function linesOfUnwritten(ids: readonly string[]): string[] {
  if (ids.length > 0) process.exitCode = 1;
  return ids.map((id) => `${id} was changed during the command and is not written: run the command again.`);
}

/** Resolves a path from the user's directory: npm starts commands in the root of the repository. */
const fromUserDirectory = (file: string): string => resolve(process.env['INIT_CWD'] ?? '', file);
