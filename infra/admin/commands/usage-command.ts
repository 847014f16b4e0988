import { Command, Option } from 'commander';
import { AdminError } from '../admin-error.ts';
import { wholeNumberUpTo } from '../inputs.ts';
import { listKeys, planViews } from '../keys/key-view.ts';
import { closest, type Closeness, dailyUsage, type Usage } from '../usage.ts';
import { limitText, formatNumber, percent } from '../text-format.ts';
import { KEY_ARGUMENT, onService, report } from './options.ts';
import { styled, table } from './output.ts';

/** API Gateway answers for at most this many days at once. */
const MAX_DAYS = 90;
/** Characters of a full bar where there is room, and of what stands beside it. */
const WIDTH = 40;
const BESIDE_BAR = 32;

/** `usage …`. */
export function usageCommand(): Command {
  const usage = new Command('usage')
    .description('requests of a key per day, or who is close to their limits')
    .argument('[key]', KEY_ARGUMENT);
  return onService<{ readonly days: number; readonly top?: number }>(usage, async (find, { days, top }, key) => {
    if ((key === '') === (top === undefined))
      throw new AdminError('Say whose usage: npm run admin -- usage KEY, or npm run admin -- usage --top 10');
    if (top === undefined) return report(await dailyUsage(await find(), key, days), usageChart);
    return report(closest(await listKeys(await find())).slice(0, top), topTable);
  })
    .option('--days <n>', 'how many days, today included', wholeNumberUpTo(MAX_DAYS), 30)
    .addOption(
      new Option('--top <n>', 'the keys that are closest to their limits, instead of one key')
        .argParser(wholeNumberUpTo(1_000))
        .conflicts('days'),
    );
}

/** `plans …`. */
export function plansCommand(): Command {
  const plans = new Command('plans').description('plans: what a key may do');
  const list = plans.command('list').description('shows the plans, their limits, and how many keys each has');
  onService(list, async (find) => {
    const views = planViews(await listKeys(await find()));
    const rows = views.map(({ title, perMinute, perDay, keys }) => {
      return [title, limitText(perMinute), limitText(perDay), formatNumber(keys)];
    });
    return { value: views, text: table(['plan', 'requests a minute', 'requests a day', 'keys'], rows, [1, 2, 3]) };
  });
  return plans;
}

function topTable(keys: readonly Closeness[]): string {
  if (keys.length === 0) return 'No key was used today.';
  return table(
    ['id', 'name', 'plan', 'this minute', 'today', 'used'],
    keys.map((key) => [
      key.id,
      key.name,
      key.plan,
      `${formatNumber(key.usedThisMinute)} / ${formatNumber(key.perMinute)}`,
      `${formatNumber(key.usedToday)} / ${formatNumber(key.perDay)}`,
      styled(colour(key.used), percent(key.used)),
    ]),
    [3, 4, 5],
  );
}

/** Requests per day against the quota, as bars: a full bar is a full quota. Of days without requests, only today has a line. */
export function usageChart({ name, plan, perDay, days }: Usage): string {
  const width = Math.max(0, Math.min(WIDTH, (process.stdout.columns ?? Infinity) - BESIDE_BAR));
  const widest = Math.max(...days.map(({ requests }) => formatNumber(requests).length));
  const shown = days.filter(({ requests }, at) => requests > 0 || at === days.length - 1);
  const lines = shown.map(({ date, requests }) => {
    const used = requests / perDay;
    const bar = '█'.repeat(Math.min(width, Math.ceil(used * width))).padEnd(width);
    return `${date}  ${styled(colour(used), bar)} ${formatNumber(requests).padStart(widest)} ${percent(used).padStart(8)}`;
  });
  const head = `requests a day, of ${formatNumber(perDay)}; days without any of the last ${days.length} are left out`;
  return [`${styled('bold', name)}, ${plan}: ${head}`, '', ...lines].join('\n');
}

const colour = (used: number): 'green' | 'yellow' | 'red' => (used >= 0.9 ? 'red' : used >= 0.7 ? 'yellow' : 'green');
