import { Command } from 'commander';
import { wholeNumberUpTo } from '../inputs.ts';
import { formatNumber, percent } from '../text-format.ts';
import { dailyUsage, MAX_DAYS } from '../usage.ts';
import { KEY_ARGUMENT, onService } from './options.ts';
import { table } from './output.ts';

/** `usage KEY`. */
export function usageCommand(): Command {
  const usage = new Command('usage').description('requests of a key per day').argument('<key>', KEY_ARGUMENT);
  return onService<{ readonly days: number }>(usage, async (find, { days: count }, key) => {
    const value = await dailyUsage(await find(), key, count);
    const { days, perDay } = value;
    const rows = days.map(({ date, requests }) => [date, formatNumber(requests), percent(requests / perDay)]);
    return { value, text: table(['day (UTC)', 'requests', `of ${formatNumber(perDay)}`], rows) };
  }).option('--days <n>', 'how many days, today included', wholeNumberUpTo(MAX_DAYS), 30);
}
