import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { getMimeType } from 'hono/utils/mime';
import { Marked } from 'marked';
import * as v from 'valibot';
import { contentSecurityPolicy } from './content-security-policy.ts';
import { type DocumentOptions, openApiDocument } from './document.ts';
import { PAGES } from './guide.ts';

const siteDirectory = join(import.meta.dirname, 'site');
const scalarModule = createRequire(import.meta.url).resolve('@scalar/api-reference');

/** It bundles its dependencies: `overrides` in package.json replaces its packages by an empty one. */
const scalarDirectory = join(dirname(scalarModule), 'browser');
const SCALAR_ENTRY = 'standalone.esm.js';

/** A file of the reference page. */
export interface PageFile {
  readonly contentType: string;
  /** Whether its path changes with its content, for caches. */
  readonly immutable: boolean;
  read(): Buffer;
}

interface PageOptions extends Pick<DocumentOptions, 'serverUrl' | 'environment'> {
  /** A public key: prefilled for the reader, and used in the examples. */
  readonly demoKey?: string;
}

/** The files of the reference page by their paths, without a slash in front. Each is made or read on demand. */
export function pageFiles(options: PageOptions): ReadonlyMap<string, PageFile> {
  const { serverUrl, environment, demoKey } = options;
  const { directory, files } = (assets ??= findAssets());
  const page = (source: keyof typeof PAGES, title: string) =>
    rendered(PAGES[source].slice(1), () => inPlace(markdownPage(title, source), directory, options));
  return new Map([
    rendered('index.html', () => inPlace(textAt('index.html'), directory, options)),
    page('errors.md', 'Errors'),
    page('../shared/client/README.md', 'TypeScript client'),
    rendered('openapi.json', () => JSON.stringify(openApiDocument({ serverUrl, environment, exampleKey: demoKey }))),
    rendered('scalar-license.txt', () => scalarLicense()),
    ...files,
  ]);
}

const rendered = (path: string, render: () => string) => fileAt(path, false, () => Buffer.from(render()));

/** A text file by its path from this directory. */
const textAt = (path: string): string => readFileSync(join(import.meta.dirname, path), 'utf8');

/** Sets each heading's text as its anchor, with hyphens for spaces. */
const marked = new Marked({
  renderer: {
    heading({ tokens, depth, text }) {
      return `<h${depth} id="${text.replaceAll(' ', '-')}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
    },
  },
});

/** On GitHub anchors are in lower case. The anchor of an error is its code, as `Link` headers have it. */
const withOwnAnchors = (markdown: string): string =>
  markdown.replaceAll(/\(#(\w+)\)/g, (_, anchor: string) => `(#${anchor.toUpperCase()})`);

/** A page in the look of the reference, without JavaScript. @param source our Markdown, by its path from `docs` */
function markdownPage(title: string, source: string): string {
  const content = marked.parse(withOwnAnchors(textAt(join('../../docs', source))), { async: false });
  return textAt('markdown-page.html')
    .replace('%TITLE%', () => title)
    .replace('%CONTENT%', () => content);
}

/** A page with its policy. It loads all from its own origin; only the API may have another. */
function inPlace(html: string, assetDirectory: string, { serverUrl, demoKey }: PageOptions): string {
  // The slash restricts requests to paths below the address (CSP Level 3 §6.7.2.7).
  const policy = contentSecurityPolicy(`${serverUrl}/`);
  const settings = JSON.stringify({ demoKey }).replaceAll('<', String.raw`\u003c`);
  return html
    .replaceAll('%ASSETS%', assetDirectory)
    .replace('%POLICY%', () => policy.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;'))
    .replace('%SETTINGS%', () => settings);
}

/** Files for every environment. Their directory is named after their content: a release loads no old ones. */
let assets: ReturnType<typeof findAssets> | undefined;

function findAssets() {
  const own = readdirSync(siteDirectory).map((name) => [name, join(siteDirectory, name)] as const);
  const chunks = readdirSync(join(scalarDirectory, 'chunks')).filter((name) => name.endsWith('.js'));
  const scalar = [SCALAR_ENTRY, ...chunks.map((name) => `chunks/${name}`)];
  const digest = createHash('sha256');
  // Chunk names contain hashes, and the entry contains those names.
  for (const path of [...own.map(([, file]) => file).toSorted(), join(scalarDirectory, SCALAR_ENTRY)]) {
    digest.update(readFileSync(path));
  }
  const directory = `assets/${digest.digest('hex').slice(0, 16)}`;
  const all = [...own, ...scalar.map((name) => [`scalar/${name}`, join(scalarDirectory, name)] as const)];
  const files = all.map(([name, path]) => fileAt(`${directory}/${name}`, true, () => readFileSync(path)));
  return { directory, files };
}

/** @throws Error for a kind of file that the page does not have */
function fileAt(path: string, immutable: boolean, read: () => Buffer): [string, PageFile] {
  const contentType = getMimeType(path);
  if (contentType === undefined) throw new Error(`The page has no content type for ${path}`);
  return [path, { contentType, immutable, read }];
}

/** As Scalar's repository has it (https://github.com/scalar/scalar/blob/main/LICENSE): its package has no such file. */
const COPYRIGHT = 'Copyright (c) 2023-present Scalar';

const packageSchema = v.object({ version: v.string(), license: v.literal('MIT'), homepage: v.string() });

/** The license notice of Scalar, with the text of our own MIT license. @throws Error if Scalar has another license */
function scalarLicense(): string {
  const manifest: unknown = JSON.parse(readFileSync(join(scalarDirectory, '../../package.json'), 'utf8'));
  const { version, homepage } = v.parse(packageSchema, manifest);
  const text = textAt('../../LICENSE').replace(/^Copyright .*$/m, COPYRIGHT);
  return `This page is shown by Scalar API Reference ${version} (${homepage}).\n\n${text}`;
}
