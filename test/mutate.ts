import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseSync } from '@swc/core';
import { Command } from 'commander';
import * as v from 'valibot';

/** `npm run mutate`: changes the code at one place at a time, and lists the changes that no suite notices. */

const root = join(import.meta.dirname, '..');
const directories = ['shared/keys', 'shared/key-registry', 'shared/stores'];
/** A change may make a loop endless. */
const TIMEOUT_MS = 120_000;

interface Mutant {
  readonly file: string;
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
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

/** All changes of a file. Spans count bytes, from the start of the first file that the process has parsed. */
function mutantsOf(file: string): Mutant[] {
  const code = readFileSync(join(root, file));
  const ast = parseSync(code.toString(), { syntax: 'typescript', target: 'es2024' });
  const firstToken = code.toString().replace(/^(\s|\/\*.*?\*\/|\/\/[^\n]*)+/s, '');
  const offset = ast.span.start - (code.length - Buffer.byteLength(firstToken));
  const mutants: Mutant[] = [];
  const add = (start: number, end: number, change: (text: string) => string): void => {
    const range = { start: start - offset, end: end - offset };
    mutants.push({ file, ...range, replacement: change(code.subarray(range.start, range.end).toString()) });
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

/** Whether a suite of the directory fails, or does not end. */
async function isNoticed(copy: string, directory: string): Promise<boolean> {
  const args = ['test/run-all.ts', '--suites-only', '--bail', `test/${directory}/`];
  const env = { ...process.env, FAST_TESTS: 'yes' };
  // SIGTERM ends all that it has started.
  const jest = spawn(process.execPath, args, { cwd: copy, stdio: 'ignore', env, timeout: TIMEOUT_MS });
  const [exitCode] = await once(jest, 'close');
  return exitCode !== 0;
}

function copyOfProject(): string {
  const copy = mkdtempSync(join(tmpdir(), 'mutants-'));
  process.once('exit', () => rmSync(copy, { recursive: true, force: true }));
  process.once('SIGINT', () => process.exit(130));
  for (const path of ['docs', 'functions', 'infra', 'shared', 'test', 'package.json', 'jest.config.js'])
    cpSync(join(root, path), join(copy, path), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

new Command('npm run mutate --')
  .description('Changes the code at one place at a time, and lists the changes that no suite notices.')
  .argument('[directories...]', `default: ${directories.join(', ')}`)
  .option('--every <n>', 'only every n-th change', Number, 1)
  .action(async (words: readonly string[], { every }: { readonly every: number }) => {
    const copy = copyOfProject();
    for (const directory of words.length > 0 ? words : directories) {
      if (await isNoticed(copy, directory)) throw new Error(`The suites of ${directory} fail without a change`);
      const files = globSync(`${directory}/*.ts`, { cwd: root });
      const mutants = files.toSorted().flatMap(mutantsOf);
      const chosen = mutants.filter((_, index) => index % every === 0);
      let noticed = 0;
      for (const { file, start, end, replacement } of chosen) {
        const code = readFileSync(join(root, file));
        const changed = Buffer.concat([code.subarray(0, start), Buffer.from(replacement), code.subarray(end)]);
        writeFileSync(join(copy, file), changed);
        if (await isNoticed(copy, directory)) noticed++;
        else {
          const line = code.subarray(0, start).toString().split('\n').length;
          process.stdout.write(`lives: ${file}:${line}: ${code.subarray(start, end).toString()} → ${replacement}\n`);
        }
        writeFileSync(join(copy, file), code);
      }
      process.stdout.write(`${directory}: ${noticed} of ${chosen.length} changes are noticed\n`);
    }
  })
  .parse();
