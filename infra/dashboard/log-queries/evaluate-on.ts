import ms, { type StringValue } from 'ms';
import { DashboardError } from '../dashboard-error.ts';
import type { Expression, Operator } from '../expression/parse.ts';
import type { LogRecord } from './log-record.ts';

/** What an expression is for one record: undefined where a field of it is not there. */
type Value = string | number | boolean | undefined;

const arithmetic: Partial<Record<Operator, (left: number, right: number) => number | boolean>> = {
  '+': (left, right) => left + right,
  '-': (left, right) => left - right,
  '*': (left, right) => left * right,
  '/': (left, right) => left / right,
  '<': (left, right) => left < right,
  '<=': (left, right) => left <= right,
  '>': (left, right) => left > right,
  '>=': (left, right) => left >= right,
};

/**
 * The value of a condition or a field for one record.
 *
 * @throws DashboardError for a function that is not known here
 */
export function evaluateOn(expression: Expression, record: LogRecord): Value {
  const evaluated = (part: Expression): Value => evaluateOn(part, record);
  if (expression.kind === 'number' || expression.kind === 'text') return expression.value;
  if (expression.kind === 'name') return scalar(record[expression.name]);
  if (expression.kind === 'not') return !isTrue(evaluated(expression.operand));
  if (expression.kind === 'negative') return -Number(evaluated(expression.operand));
  if (expression.kind === 'binary') return binary(expression, evaluated);
  if (expression.kind !== 'call') throw unknown(expression.kind);
  return call(expression.name, expression.arguments, evaluated, record);
}

function call(
  name: string,
  [first, second]: readonly Expression[],
  evaluated: (part: Expression) => Value,
  record: LogRecord,
): Value {
  if (name === 'ispresent' && first) return evaluated(first) !== undefined;
  if (name === 'strcontains' && first && second) {
    return Number(String(evaluated(first) ?? '').includes(String(evaluated(second))));
  }
  if (name === 'bin' && first?.kind === 'text' && isDuration(first.value)) {
    const at = Date.parse(String(record['@timestamp']));
    return new Date(at - (at % ms(first.value))).toISOString();
  }
  throw unknown(`${name}()`);
}

function isDuration(text: string): text is StringValue {
  return /^\d+[smhd]$/.test(text);
}

function binary(
  { operator, left, right }: Extract<Expression, { readonly kind: 'binary' }>,
  evaluated: (part: Expression) => Value,
): Value {
  if (operator === '&&') return isTrue(evaluated(left)) && isTrue(evaluated(right));
  if (operator === '||') return isTrue(evaluated(left)) || isTrue(evaluated(right));
  const value = evaluated(left);
  if (operator === 'in' && right.kind === 'list') return right.items.some((item) => isSame(value, evaluated(item)));
  if (operator === 'like') return isLike(value, right, evaluated);
  const other = evaluated(right);
  if (operator === '=') return isSame(value, other);
  if (operator === '!=') return !isSame(value, other);
  const operation = arithmetic[operator];
  if (!operation) throw unknown(operator);
  return value === undefined || other === undefined ? undefined : operation(Number(value), Number(other));
}

function isLike(value: Value, pattern: Expression, evaluated: (part: Expression) => Value): boolean {
  if (value === undefined) return false;
  if (pattern.kind === 'pattern') return pattern.pattern.test(String(value));
  return String(value).includes(String(evaluated(pattern)));
}

/** Numbers in logs may be written as text: the status of a request is. */
function isSame(one: Value, other: Value): boolean {
  return one !== undefined && other !== undefined && String(one) === String(other);
}

export function isTrue(value: Value): boolean {
  return value !== undefined && value !== false && value !== 0 && value !== '';
}

function scalar(value: unknown): Value {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value;
  return value === undefined || value === null ? undefined : JSON.stringify(value);
}

function unknown(what: string): DashboardError {
  return new DashboardError(`A log query of the dashboard uses what is not known here: ${what}`);
}
