import { Command } from 'commander';
import { AdminError } from '../admin-error.ts';
import { wholeNumberUpTo } from '../inputs.ts';
import { findTarget } from '../target.ts';
import { type Closeness, dailyUsage, topUsage, type Usage } from '../usage.ts';
import { number, percent } from '../words.ts';
import { type CommonOptions, withCommonOptions } from './options.ts';
import { notices, print, styled, table } from './output.ts';

/** API Gateway answers for at most this many days at once. */
const MAX_DAYS = 90;
const DEFAULT_DAYS = 30;
/** Characters of a full bar where there is room, and of what stands beside it. */
const WIDTH = 40;
const BESIDE_BAR = 32;
const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

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
  const usage = await dailyUsage(await findTarget(options, notices), id, options.days ?? DEFAULT_DAYS);
  print(options, usage, () => usageChart(usage));
}

async function showTop(options: UsageOptions, count: number): Promise<void> {
  if (options.days !== undefined) throw new AdminError('--days goes with an id, not with --top.');
  const keys = await topUsage(await findTarget(options, notices), count);
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

interface Days {
  readonly date: string;
  readonly requests: number;
  /** Last of several days without requests that are one line. */
  readonly until?: string;
}

/** Days, of which two or more empty ones in a row are one. Today is always a line of its own. */
function withEmptyFolded(days: Usage['days']): Days[] {
  const folded: Days[] = [];
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
