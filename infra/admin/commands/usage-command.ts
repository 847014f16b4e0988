import { Command } from 'commander';
import { wholeNumberUpTo } from '../inputs.ts';
import { counted, formatNumber } from '../text-format.ts';
import { type BusyKey, busyKeys, dailyUsage, MAX_DAYS, type Usage, usageFigures, usageScale } from '../usage.ts';
import { KEY_ARGUMENT, onService, outcome } from './options.ts';
import { table } from './output.ts';

const BAR_WIDTH = 40;
const MAX_LISTED = 20;

/** `usage [KEY]`. */
export function usageCommand(): Command {
  const usage = new Command('usage')
    .description('requests of a key per day; without a key, the keys that are busiest today')
    .argument('[key]', KEY_ARGUMENT);
  return onService<{ readonly days: number }>(usage, async (find, { days }, key) => {
    const target = await find();
    if (key === '') return outcome(await busyKeys(target), busyKeysText);
    return outcome(await dailyUsage(target, key, days), usageText);
  }).option('--days <n>', 'of a key: how many days, today included', wholeNumberUpTo(MAX_DAYS), 30);
}

/** The bars come last, so that scripts find the numbers where they are in every table. */
function usageText({ days, perDay }: Usage): string {
  const { today, total, peak } = usageFigures(days);
  const limit = `The limit is ${formatNumber(perDay)} a day.`;
  if (total === 0) return `No requests in ${counted(days.length, 'day')}. ${limit}`;
  const { top, isLimitToScale } = usageScale(days, perDay);
  const width = (requests: number): number => Math.ceil((BAR_WIDTH * requests) / top);
  const rows = days.map(({ date, requests }) => {
    const bar = '█'.repeat(width(requests));
    const isBelow = isLimitToScale && requests < perDay;
    return [date, formatNumber(requests), isBelow ? `${bar.padEnd(width(perDay))}│` : bar];
  });
  const figures = `Today ${formatNumber(today)}, in ${counted(days.length, 'day')} ${formatNumber(total)}`;
  const line = isLimitToScale ? ' It is the line beside the bars.' : ' It is far beyond the bars.';
  return `${table(['day (UTC)', 'requests', ''], rows)}

${figures}, most ${formatNumber(peak.requests)} on ${peak.date}. ${limit}${line}`;
}

function busyKeysText(keys: readonly BusyKey[]): string {
  if (keys.length === 0) return 'No key has made a request today (UTC).';
  const rows = keys
    .slice(0, MAX_LISTED)
    .map(({ id, name, plan, usedToday, leftToday }) => [
      id,
      name,
      plan,
      formatNumber(usedToday),
      formatNumber(leftToday),
    ]);
  const more = keys.length - rows.length;
  return (
    table(['id', 'name', 'plan', 'today (UTC)', 'left'], rows) + (more > 0 ? `\n${counted(more, 'more key')}` : '')
  );
}
