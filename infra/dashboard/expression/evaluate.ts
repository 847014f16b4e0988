import { DashboardError } from '../dashboard-error.ts';
import type { Expression, Operator } from './parse.ts';

/** A data point per period; undefined where there is none. */
export type Series = readonly (number | undefined)[];

/** What an expression is about. */
export interface Scope {
  /** Periods of each series. */
  readonly length: number;
  readonly periodSeconds: number;
  /** The metric or the expression with an id. */
  readonly series: (id: string) => Series;
  /** All metrics: `METRICS()`. */
  readonly metrics: () => readonly Series[];
}

type Value =
  | { readonly kind: 'scalar'; readonly number: number | undefined }
  | { readonly kind: 'series'; readonly series: Series }
  | { readonly kind: 'list'; readonly list: readonly Series[] };

const operations: Partial<Record<Operator, (left: number, right: number) => number>> = {
  '||': (left, right) => Number(left !== 0 || right !== 0),
  '&&': (left, right) => Number(left !== 0 && right !== 0),
  '=': (left, right) => Number(left === right),
  '!=': (left, right) => Number(left !== right),
  '<': (left, right) => Number(left < right),
  '<=': (left, right) => Number(left <= right),
  '>': (left, right) => Number(left > right),
  '>=': (left, right) => Number(left >= right),
  '+': (left, right) => left + right,
  '-': (left, right) => left - right,
  '*': (left, right) => left * right,
  '/': (left, right) => left / right,
};

const reductions: Readonly<Record<string, (numbers: readonly number[]) => number>> = {
  sum: (numbers) => numbers.reduce((total, number) => total + number, 0),
  avg: (numbers) => numbers.reduce((total, number) => total + number, 0) / numbers.length,
  min: (numbers) => Math.min(...numbers),
  max: (numbers) => Math.max(...numbers),
};

/**
 * Evaluates a metric math expression (CloudWatch user guide, "Using math expressions"), as far as the dashboard and the
 * alarms use it: arithmetic, comparison, `SUM`, `AVG`, `MIN`, `MAX`, `IF`, `FILL`, `PERIOD`, `METRICS`.
 *
 * Arithmetic on a period without a data point has none either; `SUM` and its like pass over it.
 *
 * @throws DashboardError for anything else
 */
export function evaluate(expression: Expression, scope: Scope): Series {
  return asSeries(valueOf(expression, scope), scope);
}

function valueOf(expression: Expression, scope: Scope): Value {
  const evaluated = (part: Expression): Value => valueOf(part, scope);
  if (expression.kind === 'number') return { kind: 'scalar', number: expression.value };
  if (expression.kind === 'text') throw unknown(`"${expression.value}"`);
  if (expression.kind === 'name') return { kind: 'series', series: scope.series(expression.name) };
  if (expression.kind === 'list') {
    return { kind: 'list', list: expression.items.map((item) => asSeries(evaluated(item), scope)) };
  }
  if (expression.kind === 'negative') {
    return lift([evaluated(expression.operand)], ([number]) => number !== undefined && -number);
  }
  if (expression.kind === 'not' || expression.kind === 'pattern') throw unknown(expression.kind);
  if (expression.kind === 'call') return call(expression.name, expression.arguments.map(evaluated), scope);
  const operation = operations[expression.operator];
  if (!operation) throw unknown(expression.operator);
  return lift([evaluated(expression.left), evaluated(expression.right)], ([left, right]) => {
    return left !== undefined && right !== undefined && operation(left, right);
  });
}

function call(name: string, values: readonly Value[], scope: Scope): Value {
  const [first, second, third] = values;
  const reduction = Object.hasOwn(reductions, name) ? reductions[name] : undefined;
  if (reduction && first && values.length === 1) return reduce(first, reduction);
  if (name === 'metrics' && values.length === 0) return { kind: 'list', list: scope.metrics() };
  if (name === 'period' && values.length === 1) return { kind: 'scalar', number: scope.periodSeconds };
  if (name === 'fill' && first && second?.kind === 'scalar') {
    return lift([first], ([number]) => number ?? second.number ?? false);
  }
  if (name === 'if' && first && second && third) {
    return lift([first, second, third], ([condition, then, otherwise]) => {
      return condition !== undefined && ((condition === 0 ? otherwise : then) ?? false);
    });
  }
  throw unknown(`${name.toUpperCase()} with ${values.length} arguments of such kinds`);
}

/** Makes one series of many, or one number of a series. */
function reduce(value: Value, reduction: (numbers: readonly number[]) => number): Value {
  const reduced = (numbers: Series): number | undefined => {
    const known = numbers.filter((number) => number !== undefined);
    return known.length === 0 ? undefined : reduction(known);
  };
  if (value.kind === 'series') return { kind: 'scalar', number: reduced(value.series) };
  if (value.kind === 'scalar') return value;
  const [first = []] = value.list;
  return { kind: 'series', series: first.map((_, index) => reduced(value.list.map((series) => series[index]))) };
}

/**
 * Applies an operation to numbers, or to series period by period.
 *
 * @param operation false: no data point
 */
function lift(values: readonly Value[], operation: (numbers: Series) => number | false): Value {
  const result = (numbers: Series): number | undefined => {
    const number = operation(numbers);
    // A division by zero is no data point.
    return number !== false && Number.isFinite(number) ? number : undefined;
  };
  const lists = values.map((value) => {
    if (value.kind === 'list') throw unknown('arithmetic on a list');
    return value;
  });
  const length = lists.find((value) => value.kind === 'series')?.series.length;
  const at = (index: number): Series =>
    lists.map((value) => (value.kind === 'scalar' ? value.number : value.series[index]));
  if (length === undefined) return { kind: 'scalar', number: result(at(0)) };
  return { kind: 'series', series: Array.from({ length }, (_, index) => result(at(index))) };
}

function asSeries(value: Value, { length }: Scope): Series {
  if (value.kind === 'series') return value.series;
  if (value.kind === 'scalar') return Array.from({ length }, () => value.number);
  throw unknown('a list where one series is wanted');
}

function unknown(what: string): DashboardError {
  return new DashboardError(`Metric math of the dashboard uses what is not known here: ${what}`);
}
