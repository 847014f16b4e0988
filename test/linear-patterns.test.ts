import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { parseSync } from '@swc/core';
import { HANG_MS } from './support/until.ts';

// The checker that is plain JavaScript: the others are programs for one platform each.
process.env['RECHECK_BACKEND'] = 'pure';
const { checkSync } = await import('recheck');

const root = join(import.meta.dirname, '..');

/** What is deployed. Host and admin command see the texts of those who run them, the client those of the service. */
const files = globSync('{shared,functions}/**/*.ts', { cwd: root, exclude: ['shared/client/**'] });

const patterns = new Map<string, readonly [source: string, flags: string]>();
/** Files that make a regular expression out of texts, which this suite cannot see. */
const made: string[] = [];

for (const file of files) {
  JSON.stringify(parseSync(readFileSync(join(root, file), 'utf8'), { syntax: 'typescript' }), (_, node) => {
    if (node?.type === 'RegExpLiteral') {
      const { pattern, flags } = node;
      patterns.set(`/${pattern}/${flags}`, [pattern, flags]);
    }
    const isCall = node?.type === 'NewExpression' || node?.type === 'CallExpression';
    if (isCall && node.callee.value === 'RegExp') made.push(file);
    return node;
  });
}

/** How the time of a pattern grows. The automaton is the quickest check, where there is one. */
function growthOf(source: string, flags: string): string {
  const quick = checkSync(source, flags, { checker: 'automaton', timeout: HANG_MS });
  const result = quick.status === 'unknown' ? checkSync(source, flags, { timeout: HANG_MS }) : quick;
  return result.status === 'unknown' ? `unknown: ${result.error.kind}` : result.complexity.type;
}

test.each([...patterns])('The time to match %s is at most linear in the length of the text', (_, [source, flags]) => {
  expect(growthOf(source, flags)).toMatch(/^(?:constant|linear|safe)$/);
});

test('No code builds a regular expression at run time', () => {
  expect(patterns.size).toBeGreaterThan(15);
  expect(made).toEqual([]);
});
