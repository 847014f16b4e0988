import { Command } from 'commander';
import { wholeNumberUpTo } from '../inputs.ts';
import { counted, formatNumber } from '../text-format.ts';
import { busyKeys, dailyUsage, MAX_DAYS, type Usage, usageFigures } from '../usage.ts';
import { KEY_ARGUMENT, onService, outcome } from './options.ts';
import { table } from './output.ts';

const BAR_WIDTH = 40;
const MAX_LISTED = 20;

/** `usage [KEY]`. */
export function usageCommand(): Command {
  const usage = new Command('usage')
    .description('Show the requests of a key per day, or the busiest keys of today')
    .argument('[key]', KEY_ARGUMENT);
  return onService<{ readonly days: number }>(usage, async (find, { days }, key) => {
    const target = await find();
    if (key === '') return outcome(await busyKeys(target), busyKeysText);
    return outcome(await dailyUsage(target, key, days), usageText);
  }).option('--days <n>', 'number of days for a key, including today', wholeNumberUpTo(MAX_DAYS), 30);
}

/** Bars are the last column, so that scripts find the numbers in fixed columns. */
function usageText({ days, perDay }: Usage): string {
  const { today, total, peak } = usageFigures(days);
  const limit = `The limit is ${formatNumber(perDay)} per day.`;
  if (total === 0) return `No requests in ${counted(days.length, 'day')}. ${limit}`;
  const bar = (requests: number): string => '█'.repeat(Math.ceil((BAR_WIDTH * requests) / peak.requests));
  const rows = days.map(({ date, requests }) => [date, formatNumber(requests), bar(requests)]);
  const figures = `Today ${formatNumber(today)}, in ${counted(days.length, 'day')} ${formatNumber(total)}`;
  const most = `most ${formatNumber(peak.requests)} on ${peak.date}`;
  return `${table(['day (UTC)', 'requests', ''], rows)}\n\n${figures}, ${most}. ${limit}`;
}

function busyKeysText(keys: Awaited<ReturnType<typeof busyKeys>>): string {
  if (keys.length === 0) return 'No key has made requests today (UTC).';
  const shown = keys.slice(0, MAX_LISTED);
  const rows = shown.map(({ id, name, plan, usedToday, leftToday }) => {
    return [id, name, plan, formatNumber(usedToday), formatNumber(leftToday)];
  });
  const more = keys.length > MAX_LISTED ? `\n${counted(keys.length - MAX_LISTED, 'more key')}` : '';
  return table(['id', 'name', 'plan', 'today (UTC)', 'left'], rows) + more;
}
