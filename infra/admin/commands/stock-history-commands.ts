import { type Command, Option } from 'commander';
import { findRecord } from '../keys/find-key.ts';
import { parsePastTime, wholeNumberUpTo } from '../keys/inputs.ts';
import { MAX_DAYS } from '../keys/usage.ts';
import { CHANGE_TITLES, changeCells, changesByKey, estimateOfScan, historyOfPet } from '../records/stock-history.ts';
import { counted, formatNumber } from '../service/text.ts';
import { csvOf } from './key-output.ts';
import { KEY_ARGUMENT, onService, outcome } from './options.ts';
import { table, withProgress } from './output.ts';

const DEFAULT_DAYS = 30;
const csvColumns = 'at petId note quantity was difference status who name token how reference reason'.split(' ');

const csvOption = () => new Option('--csv', 'print CSV, for spreadsheets').conflicts('json');

/** `inventory history` and `inventory changes`. */
export function addHistoryCommands(inventory: Command): void {
  const history = inventory
    .command('history')
    .description('Show who changed the stock of one pet, when and to what')
    .argument('<petId>', 'id of the pet')
    .option('--days <n>', `number of days, including today (default: ${DEFAULT_DAYS})`, wholeNumberUpTo(MAX_DAYS))
    .addOption(csvOption());
  onService<{ readonly days?: number; readonly csv?: true }>(history, async (target, { days, csv }, petId) => {
    const found = await historyOfPet(target, petId, days ?? DEFAULT_DAYS);
    return outcome(found, csv ? ({ rows }) => csvOf(rows, csvColumns) : historyText);
  });
  const changes = inventory
    .command('changes')
    .description('Show what one key changed, of all pets')
    .requiredOption('--key <key>', KEY_ARGUMENT)
    .option('--since <time>', `2026-11-01, 2026-11-01T18:00Z or 7d (default: ${MAX_DAYS}d)`, parsePastTime)
    .addOption(csvOption());
  interface Options {
    readonly key: string;
    readonly since?: number;
    readonly csv?: true;
  }
  onService<Options>(changes, async (target, { key, since = 0, csv }) => {
    const record = await findRecord(target, key);
    const { count, text } = await estimateOfScan(target);
    if (count > 0) process.stderr.write(`${text}\n`);
    const found = await withProgress('Reading', (show) => {
      let done = 0;
      return changesByKey(target, record, since, {
        onPage: (more) => show((done += more), Math.max(count, done)),
      });
    });
    return outcome(found, csv ? ({ rows }) => csvOf(rows, csvColumns) : changesText);
  });
}

function historyText({ petId, name, days, isCut, entry, rows }: Awaited<ReturnType<typeof historyOfPet>>): string {
  const has = entry ? `has quantity ${formatNumber(entry.quantity)}, status ${entry.status}` : 'has no stock entry';
  const pet = `Pet ${petId}${name === null ? '' : ` (${name})`} ${has}.`;
  if (rows.length === 0) return `${pet} No changes in ${counted(days, 'day')}.`;
  const more = isCut ? '\nThese are the newest of its changes: pass fewer --days.' : '';
  return `${pet}\n\n${table(CHANGE_TITLES, rows.map(changeCells))}${more}`;
}

function changesText({ name, id, rows }: Awaited<ReturnType<typeof changesByKey>>): string {
  if (rows.length === 0) return `No changes by ${name} (${id}) are recorded.`;
  const lines = rows.map((row) => [row.petId ?? '', ...changeCells(row)]);
  return table(['pet', ...CHANGE_TITLES], lines);
}
