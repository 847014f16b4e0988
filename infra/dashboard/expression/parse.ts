import { DashboardError } from '../dashboard-error.ts';
import { type Token, tokensOf } from './tokens.ts';

/** An operator of two operands; the words of Logs Insights and the signs of metric math mean the same. */
export type Operator = '||' | '&&' | '=' | '!=' | '<' | '<=' | '>' | '>=' | '+' | '-' | '*' | '/' | 'in' | 'like';

export type Expression =
  | { readonly kind: 'number'; readonly value: number }
  | { readonly kind: 'text'; readonly value: string }
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'list'; readonly items: readonly Expression[] }
  | { readonly kind: 'call'; readonly name: string; readonly arguments: readonly Expression[] }
  | { readonly kind: 'pattern'; readonly pattern: RegExp }
  | { readonly kind: 'not'; readonly operand: Expression }
  | { readonly kind: 'negative'; readonly operand: Expression }
  | { readonly kind: 'binary'; readonly operator: Operator; readonly left: Expression; readonly right: Expression };

const operators: Readonly<Record<string, { readonly operator: Operator; readonly precedence: number }>> = {
  '||': { operator: '||', precedence: 1 },
  or: { operator: '||', precedence: 1 },
  '&&': { operator: '&&', precedence: 2 },
  and: { operator: '&&', precedence: 2 },
  '=': { operator: '=', precedence: 3 },
  '==': { operator: '=', precedence: 3 },
  '!=': { operator: '!=', precedence: 3 },
  '<': { operator: '<', precedence: 3 },
  '<=': { operator: '<=', precedence: 3 },
  '>': { operator: '>', precedence: 3 },
  '>=': { operator: '>=', precedence: 3 },
  in: { operator: 'in', precedence: 3 },
  like: { operator: 'like', precedence: 3 },
  '+': { operator: '+', precedence: 4 },
  '-': { operator: '-', precedence: 4 },
  '*': { operator: '*', precedence: 5 },
  '/': { operator: '/', precedence: 5 },
};

const UNARY_PRECEDENCE = 6;

/**
 * Reads a metric math expression, or a condition or value of a Logs Insights query.
 *
 * @throws DashboardError where it is not one
 */
export function parseExpression(text: string): Expression {
  const parser = new Parser(text);
  const expression = parser.expression(0);
  parser.end();
  return expression;
}

/** The expressions that one is made of, one level down. */
export function partsOf(expression: Expression): readonly Expression[] {
  if (expression.kind === 'list') return expression.items;
  if (expression.kind === 'call') return expression.arguments;
  if (expression.kind === 'binary') return [expression.left, expression.right];
  return 'operand' in expression ? [expression.operand] : [];
}

/** Precedence climbing. */
class Parser {
  readonly #text: string;
  readonly #tokens: readonly Token[];
  #next = 0;

  constructor(text: string) {
    this.#text = text;
    this.#tokens = tokensOf(text);
  }

  expression(least: number): Expression {
    let left = this.#operand();
    for (let found = this.#operator(); found && found.precedence > least; found = this.#operator()) {
      this.#next += 1;
      left = { kind: 'binary', operator: found.operator, left, right: this.expression(found.precedence) };
    }
    return left;
  }

  end(): void {
    if (this.#next < this.#tokens.length) this.#fail();
  }

  #operand(): Expression {
    const token = this.#tokens[this.#next];
    if (!token) return this.#fail();
    this.#next += 1;
    if (token.kind === 'number') return { kind: 'number', value: Number(token.text) };
    if (token.kind === 'text') return { kind: 'text', value: token.text };
    if (token.kind === 'pattern') return { kind: 'pattern', pattern: new RegExp(token.text) };
    if (token.kind === 'name') return this.#nameOrCall(token.text);
    if (token.text === '-') return { kind: 'negative', operand: this.expression(UNARY_PRECEDENCE) };
    if (token.text === '[') return { kind: 'list', items: this.#items(']') };
    // What is counted: `count(*)`.
    if (token.text === '*') return { kind: 'name', name: '*' };
    if (token.text !== '(') return this.#fail(1);
    const inner = this.expression(0);
    this.#expect(')');
    return inner;
  }

  #nameOrCall(name: string): Expression {
    if (name.toLowerCase() === 'not') return { kind: 'not', operand: this.expression(UNARY_PRECEDENCE) };
    if (!this.#takes('(')) return { kind: 'name', name };
    return { kind: 'call', name: name.toLowerCase(), arguments: this.#items(')') };
  }

  /** What stands between brackets, after the opening one. */
  #items(close: string): Expression[] {
    const items: Expression[] = [];
    if (this.#takes(close)) return items;
    do items.push(this.expression(0));
    while (this.#takes(','));
    this.#expect(close);
    return items;
  }

  #operator(): { readonly operator: Operator; readonly precedence: number } | undefined {
    const token = this.#tokens[this.#next];
    if (token?.kind !== 'symbol' && token?.kind !== 'name') return undefined;
    const name = token.text.toLowerCase();
    return Object.hasOwn(operators, name) ? operators[name] : undefined;
  }

  #takes(symbol: string): boolean {
    const token = this.#tokens[this.#next];
    const isNext = token?.kind === 'symbol' && token.text === symbol;
    if (isNext) this.#next += 1;
    return isNext;
  }

  #expect(symbol: string): void {
    if (!this.#takes(symbol)) this.#fail();
  }

  /** @param back how many tokens were taken that should not have been */
  #fail(back = 0): never {
    const token = this.#tokens[this.#next - back];
    throw new DashboardError(
      `Cannot read the expression ${this.#text}: ${token ? `unexpected ${token.text}` : 'it ends too soon'}`,
    );
  }
}
