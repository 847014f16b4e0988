import { Argument, Command } from 'commander';
import { tableNames } from '../../stages.ts';
import { AdminError } from '../admin-error.ts';
import { type RestoreOptions, restoreTable } from '../records/restore-table.ts';
import { confirm } from './confirm.ts';
import { onService, outcome } from './options.ts';
import { withProgress } from './output.ts';

/** `restore TABLE --from NAME`. */
export function restoreCommand(): Command {
  const command = new Command('restore')
    .description('puts back what is gone, from a table that DynamoDB or AWS Backup has restored')
    .addArgument(new Argument('<table>', 'the live table').choices(tableNames))
    .requiredOption('--from <name>', 'the restored table, in the same account and region')
    .option('--exact', 'stock, pets, orders: also change what differs, and delete what was added since', false)
    .option('--open', 'keys: work at once; what was revoked, suspended or ended since the copy is forgotten', false)
    .option('--dry-run', 'only count', false)
    .option('--yes', 'do not ask', false);
  return onService<RestoreOptions & { readonly yes: boolean }>(command, async (find, { yes, ...options }, argument) => {
    const table = tableNames.find((name) => name === argument) ?? 'stock';
    const { exact, open, dryRun, from } = options;
    if (exact && ['keys', 'requests', 'history'].includes(table)) throw new AdminError(`--exact is not for ${table}.`);
    const target = await find();
    const effect = exact ? 'Changes since the copy are lost.' : 'What is there stays as it is.';
    const keys = table === 'keys' && !open ? ' Keys come back suspended.' : '';
    if (!dryRun && !yes) await confirm(`Restore ${table} of ${target.place} from ${from}? ${effect}${keys}`);
    const done = await withProgress('Comparing', (show) => restoreTable(target, table, options, show));
    if (done.changedMeanwhile.length > 0) process.exitCode = 1;
    return outcome(done, ({ added, changed, deleted, changedMeanwhile, lost }) =>
      [
        `${dryRun ? 'To do' : 'Done'}: ${added} added, ${changed} changed, ${deleted} deleted.`,
        ...changedMeanwhile.map((id) => `${id} was changed meanwhile, and is left: run the command again.`),
        ...lost.map((id) => `${id} was made in the AWS console, and cannot be made again: create another key.`),
      ].join('\n'),
    );
  });
}
