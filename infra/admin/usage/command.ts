import { Command } from 'commander';
import { AdminError } from '../admin-error.ts';
import { type CommonOptions, wholeNumberUpTo, withCommonOptions } from '../options.ts';
import { number, percent, print, styled, table } from '../output.ts';
import { findTarget } from '../target.ts';
import { colour, usageChart } from './chart.ts';
import { dailyUsage } from './daily-usage.ts';
import { type Closeness, topUsage } from './top-usage.ts';

/** API Gateway answers for at most this many days at once. */
const MAX_DAYS = 90;
const DEFAULT_DAYS = 30;

type UsageOptions = CommonOptions & { readonly days?: number; readonly top?: number };

/** `usage …`. */
export function usageCommand(): Command {
  return withCommonOptions(new Command('usage'))
    .description('requests of a key per day, or who is close to their limits')
    .argument('[id]', 'id of the key')
    .option('--days <n>', `how many days, today included (default: ${DEFAULT_DAYS})`, wholeNumberUpTo(MAX_DAYS))
    .option('--top <n>', 'the keys that are closest to their limits, instead of one key', wholeNumberUpTo(1_000))
    .action(async (id: string | undefined, options: UsageOptions) => {
      if ((id === undefined) === (options.top === undefined)) {
        throw new AdminError('Say whose usage: npm run admin -- usage ID, or npm run admin -- usage --top 10');
      }
      if (id === undefined) await showTop(options, options.top ?? 0);
      else await showDays(options, id);
    });
}

async function showDays(options: UsageOptions, id: string): Promise<void> {
  const usage = await dailyUsage(await findTarget(options), id, options.days ?? DEFAULT_DAYS);
  print(options, usage, () => usageChart(usage));
}

async function showTop(options: UsageOptions, count: number): Promise<void> {
  if (options.days !== undefined) throw new AdminError('--days goes with an id, not with --top.');
  const keys = await topUsage(await findTarget(options), count);
  print(options, keys, () => (keys.length === 0 ? 'No key was used today.' : topTable(keys)));
}

function topTable(keys: readonly Closeness[]): string {
  return table(
    ['id', 'name', 'plan', 'this minute', 'today', 'used'],
    keys.map((key) => [
      key.id,
      key.name,
      key.plan,
      `${number(key.usedThisMinute)} / ${number(key.perMinute)}`,
      `${number(key.usedToday)} / ${number(key.perDay)}`,
      styled(colour(key.used), percent(key.used)),
    ]),
    [3, 4, 5],
  );
}
