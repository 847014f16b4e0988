import { existsSync, globSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { Marked, type Token } from 'marked';

const root = path.join(import.meta.dirname, '..');

const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'CHANGELOG.md',
  'functions/README.md',
  'shared/client/README.md',
  ...readdirSync(path.join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .map((file) => path.join('docs', file))
    .toSorted(),
];

const read = (page: string): string => readFileSync(path.join(root, page), 'utf8');

/** All parts of a text that are of these types, links within paragraphs included. */
function partsOf(markdown: string, ...types: readonly string[]): Token[] {
  const parts: Token[] = [];
  const walk = (token: Token): void => void (types.includes(token.type) && parts.push(token));
  new Marked({ walkTokens: walk }).parse(markdown, { async: false });
  return parts;
}

/** Where the links and pictures of a text lead, as they stand in it. */
const linksOf = (markdown: string): string[] =>
  partsOf(markdown, 'link', 'image').flatMap((part) => ('href' in part ? String(part.href) : []));

/** The anchor that GitHub gives a heading. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-');

const anchorsOf = (markdown: string): string[] =>
  partsOf(markdown, 'heading').flatMap((part) => ('text' in part ? anchorOf(String(part.text)) : []));

/** The files that a page links to. */
const targetsOf = (page: string): string[] =>
  linksOf(read(page)).map((link) => path.join(path.dirname(page), link.replace(/#.*/, '')));

/** What is wrong with a link of a page; undefined where it leads somewhere. */
function faultOf(page: string, link: string): string | undefined {
  if (/^(https?|mailto):/.test(link)) return undefined;
  const [file = '', anchor] = link.split('#');
  const target = file === '' ? page : path.join(path.dirname(page), decodeURIComponent(file));
  if (target.startsWith('..') || !existsSync(path.join(root, target))) return `${link}: there is no ${target}`;
  if (anchor === undefined || statSync(path.join(root, target)).isDirectory() || !target.endsWith('.md'))
    return undefined;
  return anchorsOf(read(target)).includes(anchor) ? undefined : `${link}: ${target} has no such heading`;
}

/** Its lines outside of code, tables and headings. A line that is one link cannot be broken. */
const proseOf = (markdown: string): string[] =>
  markdown
    .replaceAll(/^ *```.*?^ *```$/gms, '')
    .split('\n')
    .filter((line) => !/^ *(\||#|\[[^\]]*\]\(\S*\)\S?$)/.test(line));

describe('the links', () => {
  test.each(pages)('of %s lead to files and headings that exist', (page) => {
    expect(linksOf(read(page)).flatMap((link) => faultOf(page, link) ?? [])).toEqual([]);
  });

  test('lead to every page of docs', () => {
    const targets = new Set(pages.flatMap(targetsOf));
    expect(pages.filter((page) => page.startsWith('docs/') && !targets.has(page))).toEqual([]);
  });

  test('to every page of docs/operating are in its index', () => {
    const index = new Set(linksOf(read('docs/operating/README.md')).map((link) => link.split('#')[0]));
    const others = readdirSync(path.join(root, 'docs/operating')).filter((file) => file !== 'README.md');
    expect(others.filter((file) => !index.has(file))).toEqual([]);
  });
});

test('Pages of docs have unique file names, except README.md', () => {
  const names = pages.filter((page) => page.startsWith('docs/')).map((page) => path.basename(page));
  const others = names.filter((name) => name !== 'README.md');
  expect(others).toEqual([...new Set(others)]);
});

// docs/errors.md is generated.
test.each(pages.filter((page) => page !== 'docs/errors.md'))(
  'a line of prose of %s has at most 120 characters',
  (page) => {
    expect(proseOf(read(page)).filter((line) => line.length > 120)).toEqual([]);
  },
);

/** Turns of phrase that gave way to terms of the field. cspell.json has the single words. */
const REPLACED: readonly [phrase: RegExp, term: string][] = [
  [/\bout of reach\b/i, 'unavailable'],
  [/\bfree pass\b/i, 'fails closed'],
  [
    /\b(give|take|took|taking)[sn]? (a |the |an )?(canary|release|deploy\w*|version|change|all)\b.{0,30} back\b/i,
    'rolls back',
  ],
  [/\balarms? go(es)? off\b/i, 'fires'],
  [/\bbr(eaks?|oken?) off\b/i, 'is truncated, crashes'],
  [/\bgood keys?\b/i, 'valid key'],
  [/\bused up\b/i, 'exhausted'],
  [/\bfor good\b/i, 'permanently'],
  [/\bin plain\b/i, 'in plaintext'],
  [/\bway past\b/i, 'workaround'],
  [/\blets? \w+( \w+)? in again\b/i, 'unblocks'],
  [/\bset(s|ting)? right\b/i, 'fixes'],
];

test.each(REPLACED)('no page, message or comment matches %s (use: %s)', (phrase) => {
  const files = globSync('{*.md,docs/**/*.md,{functions,infra,shared,test,.github}/**/*.{md,js,ts,yml}}', {
    cwd: root,
    exclude: (file) => /(node_modules|dist|docs-links.test.ts)$/.test(file),
  });
  expect(files.filter((file) => phrase.test(read(file).replaceAll(/\s+(\*|\/\/)?\s*/g, ' ')))).toEqual([]);
});

test('a line of a comment has at most 120 characters', () => {
  const directories = '{functions,infra,shared,test}/**/*.{css,js,ts}';
  const files = globSync(directories, { cwd: root, exclude: (file) => /(node_modules|dist)$/.test(file) });
  const lines = files.flatMap((file) => read(file).split('\n'));
  expect(lines.filter((line) => line.length > 120 && /^ *(\/\/|\/?\*)/.test(line))).toEqual([]);
});
