import { Argument, Command } from 'commander';
import { tableNames } from '../../stages.ts';
import { AdminError } from '../service/failures.ts';
import { type RestoreOptions, restoreTable } from '../records/restore-table.ts';
import { formatNumber } from '../service/text.ts';
import { onService, outcome } from './options.ts';
import { confirm, withProgress } from './output.ts';

/** `restore TABLE --from NAME`. */
export function restoreCommand(): Command {
  const command = new Command('restore')
    .description('Copy missing items from a table that DynamoDB or AWS Backup has restored')
    .addArgument(new Argument('<table>', 'live table').choices(tableNames))
    .requiredOption('--from <name>', 'restored table, in the same account and region')
    .option('--exact', 'stock, pets, orders: also overwrite items that differ and delete items added since', false)
    .option('--open', 'keys: restore them active; later revocations and suspensions are lost', false)
    .option('--dry-run', 'count the changes without writing them', false)
    .option('--yes', 'skip the confirmation', false);
  return onService<RestoreOptions & { readonly yes: boolean }>(command, async (find, { yes, ...options }, argument) => {
    const table = tableNames.find((name) => name === argument) ?? 'stock';
    const { exact, open, dryRun, from } = options;
    if (exact && !['stock', 'pets', 'orders'].includes(table))
      throw new AdminError(`--exact is not supported for ${table}.`);
    const target = await find();
    const run = (isDry: boolean) =>
      withProgress(isDry ? 'Comparing' : 'Writing', (show) =>
        restoreTable(target, table, { ...options, dryRun: isDry }, show),
      );
    if (!dryRun && !yes) {
      const effect = exact ? 'Changes since the copy are lost.' : 'Existing items stay unchanged.';
      const keys = table === 'keys' && !open ? ' Keys are restored suspended.' : '';
      const counts = countsText(await run(true));
      await confirm(`Restore ${table} of ${target.place} from ${from}: ${counts}? ${effect}${keys}`);
    }
    const done = await run(dryRun);
    if (done.changedMeanwhile.length > 0) process.exitCode = 1;
    return outcome(done, ({ changedMeanwhile, lost, ...counts }) =>
      [
        `${dryRun ? 'To do' : 'Done'}: ${countsText(counts)}.`,
        ...changedMeanwhile.map(
          (id) => `${id} was changed during the command and is not written: run the command again.`,
        ),
        ...lost.map(
          (key) =>
            `${key} was created in the AWS console, and is not restored. If API Gateway still has it, the next sync adds it as it is there: active, unless it is disabled there. Otherwise create another key.`,
        ),
      ].join('\n'),
    );
  });
}

const countsText = ({ added, changed, deleted }: Readonly<Record<'added' | 'changed' | 'deleted', number>>): string =>
  `${formatNumber(added)} added, ${formatNumber(changed)} changed, ${formatNumber(deleted)} deleted`;
