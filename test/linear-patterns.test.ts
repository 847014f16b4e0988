import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { parseSync } from '@swc/core';

// The checker that is plain JavaScript: the others are programs for one platform each.
process.env['RECHECK_BACKEND'] = 'pure';
const { checkSync } = await import('recheck');

const root = join(import.meta.dirname, '..');
const files = ['shared', 'functions', 'infra/local', 'infra/admin'].flatMap((folder) =>
  globSync(`${folder}/**/*.ts`, { cwd: root, exclude: (path) => path.includes('node_modules') }),
);

interface Found {
  readonly patterns: Map<string, { readonly source: string; readonly flags: string; readonly file: string }>;
  /** Files that make a regular expression out of texts, which this suite cannot see. */
  readonly made: string[];
}

function patternsIn(all: readonly string[]): Found {
  const found: Found = { patterns: new Map(), made: [] };
  for (const file of all) {
    JSON.stringify(parseSync(readFileSync(join(root, file), 'utf8'), { syntax: 'typescript' }), (_, node) => {
      if (node?.type === 'RegExpLiteral') {
        const { pattern: source, flags } = node;
        found.patterns.set(`/${source}/${flags}`, { source, flags, file });
      }
      const isCall = node?.type === 'NewExpression' || node?.type === 'CallExpression';
      if (isCall && node.callee.value === 'RegExp') found.made.push(file);
      return node;
    });
  }
  return found;
}

/** How the time of a pattern grows. The automaton is the quickest check, where there is one. */
function growthOf(source: string, flags: string): string {
  const quick = checkSync(source, flags, { checker: 'automaton', timeout: 1_000 });
  const result = quick.status === 'unknown' ? checkSync(source, flags, { timeout: 20_000 }) : quick;
  return result.status === 'unknown' ? `unknown: ${result.error.kind}` : result.complexity.type;
}

const { patterns, made } = patternsIn(files);

describe('no text that a client sends costs more than its length', () => {
  test.each([...patterns])('%s', (_, { source, flags, file }) => {
    expect(`${file}: ${growthOf(source, flags)}`).toMatch(/: (?:constant|linear|safe)$/);
  });

  test('no other pattern is made, but by the client of the answers of this service', () => {
    expect(made).toEqual(['shared/client/parse-answer.ts']);
  });
});
