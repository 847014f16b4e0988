import { Command } from 'commander';
import { AdminError } from '../admin-error.ts';
import { wholeNumberUpTo } from '../inputs.ts';
import { listKeys, planViews } from '../keys/key-view.ts';
import { closest, type Closeness, dailyUsage, type Usage } from '../usage.ts';
import { limitText, number, percent } from '../text-format.ts';
import { KEY_ARGUMENT, onService, report } from './options.ts';
import { styled, table } from './output.ts';

/** API Gateway answers for at most this many days at once. */
const MAX_DAYS = 90;
const DEFAULT_DAYS = 30;
/** Characters of a full bar where there is room, and of what stands beside it. */
const WIDTH = 40;
const BESIDE_BAR = 32;
const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

interface UsageOptions {
  readonly days?: number;
  readonly top?: number;
}

/** `usage …`. */
export function usageCommand(): Command {
  const usage = new Command('usage')
    .description('requests of a key per day, or who is close to their limits')
    .argument('[key]', KEY_ARGUMENT);
  return onService<UsageOptions>(usage, async (find, { days, top }, key) => {
    if ((key === '') === (top === undefined))
      throw new AdminError('Say whose usage: npm run admin -- usage KEY, or npm run admin -- usage --top 10');
    if (top === undefined) return report(await dailyUsage(await find(), key, days ?? DEFAULT_DAYS), usageChart);
    if (days !== undefined) throw new AdminError('--days goes with a key, not with --top.');
    return report(closest(await listKeys(await find())).slice(0, top), topTable);
  })
    .option('--days <n>', `how many days, today included (default: ${DEFAULT_DAYS})`, wholeNumberUpTo(MAX_DAYS))
    .option('--top <n>', 'the keys that are closest to their limits, instead of one key', wholeNumberUpTo(1_000));
}

/** `plans …`. */
export function plansCommand(): Command {
  const plans = new Command('plans').description('plans: what a key may do');
  const list = plans.command('list').description('shows the plans, their limits, and how many keys each has');
  onService(list, async (find) => {
    const views = planViews(await listKeys(await find()));
    const rows = views.map((view) => [
      view.title,
      limitText(view.perMinute),
      limitText(view.perDay),
      number(view.keys),
    ]);
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
      `${number(key.usedThisMinute)} / ${number(key.perMinute)}`,
      `${number(key.usedToday)} / ${number(key.perDay)}`,
      styled(colour(key.used), percent(key.used)),
    ]),
    [3, 4, 5],
  );
}

/** Requests per day against the quota, as bars: a full bar is a full quota. */
export function usageChart({ name, plan, perDay, days }: Usage): string {
  const width = Math.max(0, Math.min(WIDTH, (process.stdout.columns ?? Infinity) - BESIDE_BAR));
  const widest = Math.max(...days.map(({ requests }) => number(requests).length));
  const lines = withEmptyFolded(days).map(({ date, until, requests }) => {
    if (until !== undefined) return `${date} to ${until}: none`;
    const used = requests / perDay;
    return `${date}  ${styled(colour(used), bar(used, width).padEnd(width))} ${number(requests).padStart(widest)} ${percent(used).padStart(8)}`;
  });
  return [`${styled('bold', name)}, ${plan}: requests a day, of ${number(perDay)}`, '', ...lines].join('\n');
}

/** Days, of which two or more empty ones in a row are one, until the last of them. Today is always a line of its own. */
function withEmptyFolded(days: Usage['days']): (Usage['days'][number] & { readonly until?: string })[] {
  const folded: ReturnType<typeof withEmptyFolded> = [];
  days.forEach((day, at) => {
    const previous = folded.at(-1);
    const isFoldable = day.requests === 0 && previous?.requests === 0 && at < days.length - 1;
    if (isFoldable) folded.splice(-1, 1, { ...previous, until: day.date });
    else folded.push(day);
  });
  return folded;
}

/** `part` of the full width, to an eighth of a character; anything at all is seen. */
export function bar(part: number, width = WIDTH): string {
  const eighths = Math.min(width * 8, Math.max(part > 0 ? 1 : 0, Math.round(part * width * 8)));
  return '█'.repeat(Math.floor(eighths / 8)) + (EIGHTHS[eighths % 8] ?? '');
}

export function colour(used: number): 'green' | 'yellow' | 'red' {
  if (used >= 0.9) return 'red';
  return used >= 0.7 ? 'yellow' : 'green';
}
