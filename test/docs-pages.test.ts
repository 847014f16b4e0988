import { spawnSync } from 'node:child_process';
import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { devNull } from 'node:os';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { Marked, type Token } from 'marked';
import * as v from 'valibot';

const root = path.join(import.meta.dirname, '..');
const filesIn = (pattern: string): string[] =>
  globSync(pattern, { cwd: root, exclude: (file) => /(node_modules|dist|docs-pages.test.ts)$/.test(file) });
const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');

const docs = filesIn('docs/**/*.md').toSorted();
const pages = [...filesIn('{*,functions/*,shared/client/*}.md').toSorted(), ...docs];

/** All parts of a text that are of these types, links within paragraphs included. */
function partsOf(markdown: string, ...types: readonly string[]): Token[] {
  const parts: Token[] = [];
  const walk = (token: Token): void => void (types.includes(token.type) && parts.push(token));
  new Marked({ walkTokens: walk }).parse(markdown, { async: false });
  return parts;
}

/** Where the links and pictures of a page lead, as they stand in it. */
const linksOf = (page: string): string[] =>
  partsOf(read(page), 'link', 'image').flatMap((part) => ('href' in part ? String(part.href) : []));

/** The anchor that GitHub gives a heading. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-');

const anchorsOf = (page: string): string[] =>
  partsOf(read(page), 'heading').flatMap((part) => ('text' in part ? anchorOf(String(part.text)) : []));

/** What is wrong with a link of a page; undefined where it leads somewhere. */
function faultOf(page: string, link: string): string | undefined {
  if (/^(https?|mailto):/.test(link)) return undefined;
  const [file = '', anchor] = link.split('#');
  const target = file === '' ? page : path.join(path.dirname(page), decodeURIComponent(file));
  if (target.startsWith('..') || !existsSync(path.join(root, target))) return `${link}: there is no ${target}`;
  if (anchor === undefined || statSync(path.join(root, target)).isDirectory() || !target.endsWith('.md'))
    return undefined;
  return anchorsOf(target).includes(anchor) ? undefined : `${link}: ${target} has no such heading`;
}

/** The files that no link of these pages leads to. */
function unlinked(files: readonly string[], from: readonly string[]): string[] {
  const links = from.flatMap((page) => linksOf(page).map((link) => path.join(page, '..', link.replace(/#.*/, ''))));
  const targets = new Set(links);
  return files.filter((file) => !targets.has(file));
}

describe('the links', () => {
  test.each(pages)('of %s lead to files and headings that exist', (page) => {
    expect(linksOf(page).flatMap((link) => faultOf(page, link) ?? [])).toEqual([]);
  });

  test('lead to every page of docs, and from the index of docs/operating to each page there', () => {
    const index = 'docs/operating/README.md';
    const operating = docs.filter((page) => page.startsWith('docs/operating/') && page !== index);

    expect(unlinked(docs, pages)).toEqual([]);
    expect(unlinked(operating, [index])).toEqual([]);
  });
});

/**
 * The stock AWS CLI, in one process for all commands: it checks names, options, values and the query of each, and then
 * no server at the other end. Prints its output for each.
 */
const parser = `
import contextlib, io, json, shlex, sys
from awscli.clidriver import create_clidriver
outputs, driver = [], create_clidriver()
for command in json.load(sys.stdin):
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        try: driver.main([*shlex.split(command)[1:], '--endpoint-url', 'http://127.0.0.1:1'])
        except SystemExit: pass
    outputs.append(out.getvalue())
print(json.dumps(outputs))
`;

const hasParser = spawnSync('python3', ['-c', 'import awscli.clidriver']).status === 0;
if (!hasParser)
  process.stderr.write('Skipped: the parser of the AWS CLI (pip install awscli): Python does not find it\n');

/** From `aws` on up to where the shell goes on with something else; what is in quotes belongs to it. */
const awsCommand = /\baws (?=[a-z])(?:"[^"]*"|'[^']*'|\\\n|[^\n|;)`"'#<>])+/g;

/** The commands of a page that read, with values in place of variables and of names that the page leaves open. */
function readingCommands(page: string): string[] {
  const code = [...read(page).matchAll(/```sh\n[\s\S]*?```|`[^`\n]+`/g)].map(([found]) => found);
  return code
    .flatMap((block) => [...block.replaceAll('"$(aws', '\naws').matchAll(awsCommand)].map(([found]) => found.trim()))
    .filter((command) => /^aws [\w-]+ (describe|get|list|detect)-/.test(command))
    .map((command) =>
      command
        .replaceAll('\\\n', ' ')
        .replaceAll(/"\$\([^"]*\)"/g, '2026-11-21T00:00:00Z')
        .replaceAll(/\$\{?\w+\}?|…/g, 'some-value'),
    );
}

(hasParser ? describe : describe.skip)('the stock AWS CLI', () => {
  test('accepts every reading command of README and docs', () => {
    const commands = [...new Set(['README.md', ...docs].flatMap(readingCommands))];
    const input = JSON.stringify([...commands, 'aws sts get-caller-identity --no-such-option']);
    const env = {
      ...process.env,
      AWS_ACCESS_KEY_ID: 'any',
      AWS_SECRET_ACCESS_KEY: 'any',
      AWS_CONFIG_FILE: devNull,
      AWS_DEFAULT_REGION: 'us-east-1',
      AWS_MAX_ATTEMPTS: '1',
    };
    const { stdout } = spawnSync('python3', ['-c', parser], { input, env, encoding: 'utf8' });
    const outputs = v.parse(v.array(v.string()), JSON.parse(stdout));
    const refused = commands.flatMap((command, index) =>
      outputs[index]?.includes('Could not connect to the endpoint URL') ? [] : `${command}\n${outputs[index]}`,
    );

    expect(commands.length).toBeGreaterThan(10);
    expect(outputs.at(-1)).toMatch('Unknown options: --no-such-option');
    expect(refused).toEqual([]);
  });
});
