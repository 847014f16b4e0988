import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync } from '@swc/core';
import * as v from 'valibot';
import { type Mutant, root } from './named-mutants.ts';

/** A change of one operator, number, condition or statement. */
export interface RandomMutant extends Mutant {
  /** Its line and the change. */
  readonly title: string;
}

const spanned = v.object({ span: v.object({ start: v.number(), end: v.number() }) });
const node = v.variant('type', [
  v.object({
    ...spanned.entries,
    type: v.literal('BinaryExpression'),
    operator: v.string(),
    left: spanned,
    right: spanned,
  }),
  v.object({ ...spanned.entries, type: v.literal('UnaryExpression'), operator: v.literal('!'), argument: spanned }),
  v.object({ ...spanned.entries, type: v.literal('NumericLiteral'), value: v.number() }),
  v.object({ ...spanned.entries, type: v.literal('BooleanLiteral'), value: v.boolean() }),
  v.object({ ...spanned.entries, type: v.literal('ExpressionStatement') }),
]);

/** Types do not run; an expression with a type, such as `as const`, does. */
const typeOnly = v.object({ type: v.pipe(v.string(), v.regex(/^Ts(?!As|Const|NonNull|Satisfies)/)) });

const OPERATORS: Readonly<Record<string, string>> = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
  '&&': '||',
  '||': '&&',
  '+': '-',
  '-': '+',
  '*': '/',
  '/': '*',
};

/**
 * Every so many of the changes of a directory's files. The text of a change decides whether it is among them: so other
 * changes of a file, or of its length, leave the sample as it is.
 */
export function randomMutants(directory: string, every: number): RandomMutant[] {
  const files = globSync(`${directory}/*.ts`, { cwd: root }).toSorted();
  return files.flatMap(mutantsOf).filter(({ file, title }) => {
    const text = `${file}${title.slice(title.indexOf(':'))}`;
    return createHash('sha256').update(text).digest().readUInt32BE() % every === 0;
  });
}

/** All changes of a file. Spans count bytes, from the start of the first file that the process has parsed. */
function mutantsOf(file: string): RandomMutant[] {
  const original = readFileSync(join(root, file), 'utf8');
  const code = Buffer.from(original);
  const ast = parseSync(original, { syntax: 'typescript', target: 'es2024' });
  const firstToken = original.replace(/^(\s|\/\*.*?\*\/|\/\/[^\n]*)+/s, '');
  const offset = ast.span.start - (code.length - Buffer.byteLength(firstToken));
  const mutants: RandomMutant[] = [];
  const add = (start: number, end: number, change: (text: string) => string): void => {
    const before = code.subarray(0, start - offset).toString();
    const text = code.subarray(start - offset, end - offset).toString();
    const replacement = change(text);
    const changed = before + replacement + code.subarray(end - offset).toString();
    const lines = before.split('\n');
    mutants.push({ file, original, changed, title: `${lines.length}: ${lines.at(-1)}${text} → ${replacement}` });
  };
  JSON.stringify(ast, (_, value: unknown) => {
    if (v.is(typeOnly, value)) return undefined;
    const { success, output } = v.safeParse(node, value);
    if (!success) return value;
    const { start, end } = output.span;
    if (output.type === 'BinaryExpression') {
      const { operator, left, right } = output;
      const other = OPERATORS[operator];
      if (other !== undefined) add(left.span.end, right.span.start, (text) => text.replace(operator, other));
    } else if (output.type === 'UnaryExpression') add(start, output.argument.span.start, () => '');
    else if (output.type === 'ExpressionStatement') add(start, end, () => ';');
    else if (output.type === 'NumericLiteral') add(start, end, () => String(output.value + 1));
    else add(start, end, () => String(!output.value));
    return value;
  });
  return mutants;
}
