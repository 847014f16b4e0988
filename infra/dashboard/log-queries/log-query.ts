import type { LogEvent } from '../../local/metrics/log-events.ts';
import { DashboardError } from '../dashboard-error.ts';
import { aggregate, aggregatesOf } from './aggregate.ts';
import { evaluateOn, isTrue } from './evaluate-on.ts';
import { type LogRecord, recordOf } from './log-record.ts';
import { parseExpression } from '../expression/parse.ts';
import { splitList } from './split-list.ts';

export interface LogTable {
  readonly columns: readonly string[];
  readonly rows: readonly LogRecord[];
}

type Command = (argument: string, table: LogTable) => LogTable;

const commands: Readonly<Record<string, Command>> = { fields, filter, stats, sort, limit };

/** A pattern may hold a bar too: a command is what stands behind it. */
const BETWEEN_COMMANDS = /\s*\|\s*(?=(?:SOURCE|fields|filter|stats|sort|limit)\b)/;

const SOURCE = /^SOURCE\s+'([^']+)'$/;

/** What Logs Insights shows where a query names no fields. */
const defaultColumns = ['@timestamp', '@message'];

/**
 * Runs a CloudWatch Logs Insights query on the lines of the log groups that its `SOURCE`s name: of the language, what the
 * dashboard's queries use.
 *
 * @throws DashboardError for a command or a function that is not known here
 */
export function runLogQuery(query: string, events: readonly LogEvent[]): LogTable {
  const parts = query.trim().split(BETWEEN_COMMANDS);
  const sources = new Set(parts.flatMap((part) => SOURCE.exec(part)?.[1] ?? []));
  let table: LogTable = {
    columns: defaultColumns,
    rows: events.filter(({ logGroup }) => sources.has(logGroup)).map((event) => recordOf(event)),
  };
  for (const part of parts.filter((command) => !SOURCE.test(command))) {
    const [name = ''] = part.split(/\s/, 1);
    const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
    if (!command) throw new DashboardError(`A log query of the dashboard uses what is not known here: ${part}`);
    table = command(part.slice(name.length).trim(), table);
  }
  return table;
}

function fields(list: string, { rows }: LogTable): LogTable {
  return { columns: splitList(list), rows };
}

function filter(condition: string, { columns, rows }: LogTable): LogTable {
  const expression = parseExpression(condition);
  return { columns, rows: rows.filter((record) => isTrue(evaluateOn(expression, record))) };
}

function stats(argument: string, { rows }: LogTable): LogTable {
  const [aggregateList = '', groupList = ''] = argument.split(/\sby\s/);
  const groups = groupList === '' ? [] : splitList(groupList);
  const aggregates = aggregatesOf(aggregateList);
  const keys = groups.map((group) => parseExpression(group));
  const byKey = Map.groupBy(rows, (record) => JSON.stringify(keys.map((key) => evaluateOn(key, record))));
  return {
    columns: [...groups, ...aggregates.map(({ name }) => name)],
    rows: [...byKey.values()].map((records) => rowOf(records, groups, aggregates)),
  };
}

function rowOf(
  records: readonly LogRecord[],
  groups: readonly string[],
  aggregates: ReturnType<typeof aggregatesOf>,
): LogRecord {
  const [first = {}] = records;
  return Object.fromEntries([
    ...groups.map((group) => [group, evaluateOn(parseExpression(group), first)]),
    ...aggregates.map(({ name, expression }) => [name, aggregate(expression, records)]),
  ]);
}

function sort(argument: string, { columns, rows }: LogTable): LogTable {
  const { field = '', order = 'asc' } = /^(?<field>\S+)(?:\s+(?<order>asc|desc))?$/.exec(argument)?.groups ?? {};
  const sign = order === 'desc' ? -1 : 1;
  return { columns, rows: rows.toSorted((one, other) => sign * compare(one[field], other[field])) };
}

function compare(one: unknown, other: unknown): number {
  if (typeof one === 'number' && typeof other === 'number') return one - other;
  return textOf(one) < textOf(other) ? -1 : Number(textOf(one) > textOf(other));
}

function limit(count: string, { columns, rows }: LogTable): LogTable {
  return { columns, rows: rows.slice(0, Number(count)) };
}

/** A value as a table shows it. */
export function textOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
