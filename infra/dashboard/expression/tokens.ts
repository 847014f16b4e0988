import { DashboardError } from '../dashboard-error.ts';

export interface Token {
  readonly kind: 'number' | 'text' | 'pattern' | 'name' | 'symbol';
  /** Without quotation marks, or the slashes around a pattern. */
  readonly text: string;
}

/** A kind of token each, tried in this order. */
const TOKEN =
  /\s*(?:(?<duration>\d+[smhd])\b|(?<number>\d+(?:\.\d+)?(?:e-?\d+)?)|"(?<double>[^"]*)"|'(?<single>[^']*)'|`(?<quoted>[^`]*)`|(?<name>[A-Za-z_@][\w@.]*)|(?<symbol>[<>!=]=|&&|\|\||[-+*/^()[\],<>=]))/y;

/** A regular expression, which only `like` has on its right. */
const PATTERN = /\s*\/(?<pattern>(?:[^/\\]|\\.)*)\//y;

/**
 * Splits a metric math expression, or a part of a Logs Insights query, into tokens.
 *
 * @throws DashboardError at a character that no token begins with
 */
export function tokensOf(expression: string): Token[] {
  const text = expression.trimEnd();
  const tokens: Token[] = [];
  for (let at = 0; at < text.length;) {
    const isPattern = tokens.at(-1)?.text === 'like' && text.slice(at).trimStart().startsWith('/');
    const expected = new RegExp(isPattern ? PATTERN : TOKEN);
    expected.lastIndex = at;
    const groups = expected.exec(text)?.groups;
    if (!groups) throw new DashboardError(`Cannot read "${text.slice(at).trim()}" in the expression ${text}`);
    tokens.push(tokenOf(groups));
    at = expected.lastIndex;
  }
  return tokens;
}

function tokenOf(groups: Readonly<Record<string, string | undefined>>): Token {
  const { duration, number, double, single, quoted, pattern, name, symbol } = groups;
  if (number !== undefined) return { kind: 'number', text: number };
  if (pattern !== undefined) return { kind: 'pattern', text: pattern };
  // `5m` is a text that only `bin` understands.
  const text = double ?? single ?? duration;
  if (text !== undefined) return { kind: 'text', text };
  const field = name ?? quoted;
  return field === undefined ? { kind: 'symbol', text: symbol ?? '' } : { kind: 'name', text: field };
}
