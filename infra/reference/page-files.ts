import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { ExampleObject, OpenAPIObject, ParameterObject, ReferenceObject } from 'openapi3-ts/oas31';
import { openApiDocument, openApiJson, type Environment } from './document.ts';
import { indexHtml } from './index-html.ts';
import { scalarLicense } from './scalar-license.ts';

const siteFolder = join(import.meta.dirname, 'site');
const scalarModule = createRequire(import.meta.url).resolve('@scalar/api-reference');

/** Scalar's build for browsers: ES modules, of which a visitor loads what they look at. */
const scalarFolder = join(dirname(scalarModule), 'browser');
const SCALAR_ENTRY = 'standalone.esm.js';

/** A file of the reference page. */
export interface PageFile {
  readonly contentType: string;
  /** Whether its path changes with its content, so that caches may keep it. */
  readonly immutable: boolean;
  read(): Buffer;
}

/** The files of the page by their paths, without a slash in front. */
export type PageFiles = ReadonlyMap<string, PageFile>;

export interface PageOptions {
  /** Base address of the service, which ends in its version. It may be a token of the CDK. */
  readonly serverUrl: string;
  readonly environment: Environment;
  /** A key that everybody may know: it is filled in for the reader, and stands in the examples. */
  readonly demoKey?: string;
}

const TITLE = 'Pet Store Inventory Service: API reference';
const DESCRIPTION =
  'How to list and set the stock of a pet store over HTTP: a guide to keys, limits and errors, every operation, and a try-it.';

/**
 * The files of the reference page: `index.html`, `openapi.json`, the licence of what shows them, and the assets that they
 * lead to. Each is made or read when it is wanted.
 */
export function pageFiles({ serverUrl, environment, demoKey }: PageOptions): PageFiles {
  const { folder, files } = (assets ??= findAssets());
  const html = (): string => indexHtml({ assets: folder, serverUrl, title: TITLE, description: DESCRIPTION, demoKey });
  const document = (): string =>
    openApiJson(withOptionalParametersOff(openApiDocument({ serverUrl, environment, exampleKey: demoKey })));
  return new Map([
    rendered('index.html', html),
    rendered('openapi.json', document),
    rendered('scalar-license.txt', readLicense),
    ...files,
  ]);
}

let license: string | undefined;

/** Made once: it reads all of Scalar's source maps. */
const readLicense = (): string => (license ??= scalarLicense(scalarFolder));

function rendered(path: string, render: () => string): [string, PageFile] {
  return [path, { contentType: contentTypeOf(path), immutable: false, read: () => Buffer.from(render()) }];
}

/**
 * The document with every optional parameter left out of a request until the reader ticks it. The try-it would send
 * them all with the values of their examples: a first PATCH would say `If-Match`, and be refused.
 */
function withOptionalParametersOff(document: OpenAPIObject): OpenAPIObject {
  const entries = Object.entries(document.components?.parameters ?? {});
  const parameters = Object.fromEntries(entries.map(([name, parameter]) => [name, offUnlessRequired(parameter)]));
  return { ...document, components: { ...document.components, parameters } };
}

function offUnlessRequired(parameter: ParameterObject | ReferenceObject): ParameterObject | ReferenceObject {
  if ('$ref' in parameter || parameter.required === true) return parameter;
  const { example, ...rest } = parameter;
  // An extension of OpenAPI that Scalar knows.
  const off: ExampleObject = { value: example, 'x-disabled': true };
  return { ...rest, examples: { example: off } };
}

/**
 * The files that are the same wherever the page is served, and the folder of their paths. It is named after their content,
 * so that a new release never meets old files.
 */
let assets: { readonly folder: string; readonly files: PageFiles } | undefined;

function findAssets(): NonNullable<typeof assets> {
  const own = readdirSync(siteFolder).toSorted();
  const chunks = readdirSync(join(scalarFolder, 'chunks')).filter((name) => name.endsWith('.js'));
  const scalar = [SCALAR_ENTRY, ...chunks.toSorted().map((name) => `chunks/${name}`)];
  // The names of the chunks have their own hashes, and the entry has those names.
  const hashed = [...own.map((name) => join(siteFolder, name)), join(scalarFolder, SCALAR_ENTRY)];
  const digest = createHash('sha256');
  for (const path of hashed) digest.update(readFileSync(path));
  const folder = `assets/${digest.digest('hex').slice(0, 16)}`;
  const assetAt = (name: string, path: string): [string, PageFile] => [
    `${folder}/${name}`,
    { contentType: contentTypeOf(path), immutable: true, read: () => readFileSync(path) },
  ];
  const files = new Map([
    ...own.map((name) => assetAt(name, join(siteFolder, name))),
    ...scalar.map((name) => assetAt(`scalar/${name}`, join(scalarFolder, name))),
  ]);
  return { folder, files };
}

const contentTypes: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  json: 'application/json',
  svg: 'image/svg+xml',
  txt: 'text/plain; charset=utf-8',
};

/** @throws Error for a kind of file that the page does not have */
function contentTypeOf(path: string): string {
  const contentType = contentTypes[path.slice(path.lastIndexOf('.') + 1)];
  if (contentType === undefined) throw new Error(`The page has no content type for ${path}`);
  return contentType;
}
