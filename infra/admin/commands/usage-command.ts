import { Command } from 'commander';
import { wholeNumberUpTo } from '../keys/inputs.ts';
import { counted, formatNumber } from '../service/text.ts';
import { AdminError } from '../service/failures.ts';
import { busyKeys, isMostlyRefused, MAX_DAYS, type Usage, usageFigures, usageOfKey } from '../keys/usage.ts';
import { KEY_ARGUMENT, onService, outcome } from './options.ts';
import { table } from './output.ts';

const BAR_WIDTH = 40;
const MAX_LISTED = 20;
const DEFAULT_DAYS = 30;

export function usageCommand(): Command {
  const usage = new Command('usage')
    .description('Show the requests of a key per day, or the busiest keys of today')
    .argument('[key]', KEY_ARGUMENT);
  return onService<{ readonly days?: number }>(usage, async (target, { days }, key) => {
    if (key === '' && days !== undefined) throw new AdminError('--days requires a key.');
    if (key === '') return outcome(await busyKeys(target), busyKeysText);
    return outcome(await usageOfKey(target, key, days ?? DEFAULT_DAYS), usageText);
  }).option(
    '--days <n>',
    `number of days for a key, including today (default: ${DEFAULT_DAYS})`,
    wholeNumberUpTo(MAX_DAYS),
  );
}

/** Bars are the last column, so that scripts find the numbers in fixed columns. */
function usageText({ days, perDay }: Usage): string {
  const { today, total, refused, peak, highest, lastSampleDay } = usageFigures(days);
  const limit = `The limit is ${formatNumber(perDay)} per day.`;
  if (total + refused === 0) return `No requests in ${counted(days.length, 'day')}. ${limit}`;
  const bar = (requests: number, sign: string): string => sign.repeat(Math.ceil((BAR_WIDTH * requests) / highest));
  const rows = days.map((day) => [
    day.day,
    formatNumber(day.used),
    formatNumber(day.refused),
    `${bar(day.used, '█')}${bar(day.refused, '░')}${isMostlyRefused(day) ? ' !' : ''}`,
  ]);
  const sum = `in ${counted(days.length, 'day')} ${formatNumber(total)} admitted, at least ${formatNumber(refused)} refused`;
  const most = `most ${formatNumber(peak.used)} on ${peak.day}`;
  const legend = days.some(isMostlyRefused) ? '\n░ refused; ! more than a tenth of the day was refused.' : '';
  const marked = lastSampleDay === undefined ? '' : `\nSample data until ${lastSampleDay}.`;
  return `${table(['day (UTC)', 'admitted', 'refused', ''], rows)}\n\nToday ${formatNumber(today.used)}, ${sum}, ${most}. ${limit}${legend}${marked}`;
}

function busyKeysText(keys: Awaited<ReturnType<typeof busyKeys>>): string {
  if (keys.length === 0) return 'No key has made requests today (UTC).';
  const shown = keys.slice(0, MAX_LISTED);
  const rows = shown.map(({ id, name, plan, usedToday, refusedToday, leftToday }) => {
    return [id, name, plan, formatNumber(usedToday), formatNumber(refusedToday), formatNumber(leftToday)];
  });
  const more = keys.length > MAX_LISTED ? `\n${counted(keys.length - MAX_LISTED, 'more key')}` : '';
  return table(['id', 'name', 'plan', 'today (UTC)', 'refused', 'left'], rows) + more;
}
