import { statisticOf } from '../../local/metrics/statistic.ts';
import { DashboardError } from '../dashboard-error.ts';
import { type Expression, parseExpression } from '../expression/parse.ts';
import { evaluateOn } from './evaluate-on.ts';
import type { LogRecord } from './log-record.ts';
import { splitList } from './split-list.ts';

export interface Aggregate {
  /** Of its column. */
  readonly name: string;
  readonly expression: Expression;
}

/** Reads a list such as `count(*) as requests, avg(latency)`. */
export function aggregatesOf(list: string): Aggregate[] {
  return splitList(list).map((item) => {
    const [text = '', name = text] = item.split(/\s+as\s+/);
    return { name, expression: parseExpression(text) };
  });
}

const statistics: Readonly<Record<string, string>> = { sum: 'Sum', avg: 'Average', min: 'Minimum', max: 'Maximum' };

/** The value of an aggregate over the records of a group. @throws DashboardError for a function that is not known here */
export function aggregate(expression: Expression, records: readonly LogRecord[]): string | number | undefined {
  if (expression.kind === 'number') return expression.value;
  if (expression.kind === 'binary') return arithmetic(expression, records);
  if (expression.kind !== 'call') throw unknown(expression.kind);
  const [argument, parameter] = expression.arguments;
  if (expression.name === 'count' && argument?.kind === 'name' && argument.name === '*') return records.length;
  if (!argument) throw unknown(`${expression.name}()`);
  const values = records.map((record) => evaluateOn(argument, record)).filter((value) => value !== undefined);
  if (expression.name === 'count') return values.length;
  if (expression.name === 'count_distinct') return new Set(values).size;
  if (expression.name === 'latest') return latest(argument, records);

  const name = expression.name === 'pct' && parameter?.kind === 'number' ? `p${parameter.value}` : undefined;
  const statistic = statisticOf(name ?? statistics[expression.name] ?? '');
  if (!statistic) throw unknown(`${expression.name}()`);
  return values.length === 0 ? undefined : statistic(values.map(Number));
}

/** Such as `max(@maxMemoryUsed) / 1000000`. */
function arithmetic(
  { operator, left, right }: Extract<Expression, { readonly kind: 'binary' }>,
  records: readonly LogRecord[],
): number | undefined {
  const [one, other] = [aggregate(left, records), aggregate(right, records)];
  if (typeof one !== 'number' || typeof other !== 'number') return undefined;
  const operands = { left: numeral(one), right: numeral(other) };
  const value = evaluateOn({ kind: 'binary', operator, ...operands }, {});
  return typeof value === 'number' ? value : undefined;
}

const numeral = (value: number): Expression => ({ kind: 'number', value });

/** The field of the latest record that has it. Times in ISO 8601 sort by themselves. */
function latest(field: Expression, records: readonly LogRecord[]): string | number | undefined {
  const byTime = records.toSorted((one, other) => (String(one['@timestamp']) < String(other['@timestamp']) ? 1 : -1));
  const value = byTime.map((record) => evaluateOn(field, record)).find((found) => found !== undefined);
  return typeof value === 'boolean' ? String(value) : value;
}

function unknown(what: string): DashboardError {
  return new DashboardError(`A log query of the dashboard uses what is not known here: ${what}`);
}
