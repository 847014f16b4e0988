import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { contentTypeOf, type PageFile, type PageFiles } from './page-file.ts';

const siteFolder = join(import.meta.dirname, 'site');
const scalarModule = createRequire(import.meta.url).resolve('@scalar/api-reference');

/** Scalar's build for browsers: ES modules, of which a visitor loads what they look at. */
const scalarFolder = join(dirname(scalarModule), 'browser');
const SCALAR_ENTRY = 'standalone.esm.js';

/** The files that are the same wherever the page is served. */
export interface PageAssets {
  /** Folder of their paths. It is named after their content, so that a new release never meets old files. */
  readonly folder: string;
  readonly files: PageFiles;
}

let assets: PageAssets | undefined;

/** Finds the assets, once. Their content is read when it is wanted. */
export function pageAssets(): PageAssets {
  return (assets ??= findAssets());
}

function findAssets(): PageAssets {
  const own = readdirSync(siteFolder).toSorted();
  const chunks = readdirSync(join(scalarFolder, 'chunks')).filter((name) => name.endsWith('.js'));
  const scalar = [SCALAR_ENTRY, ...chunks.toSorted().map((name) => `chunks/${name}`)];
  // The names of the chunks have their own hashes, and the entry has those names.
  const hashed = [...own.map((name) => join(siteFolder, name)), join(scalarFolder, SCALAR_ENTRY)];
  const digest = createHash('sha256');
  for (const path of hashed) digest.update(readFileSync(path));
  const folder = `assets/${digest.digest('hex').slice(0, 16)}`;
  const files = new Map([
    ...own.map((name): [string, PageFile] => [`${folder}/${name}`, assetAt(join(siteFolder, name))]),
    ...scalar.map((name): [string, PageFile] => [`${folder}/scalar/${name}`, assetAt(join(scalarFolder, name))]),
  ]);
  return { folder, files };
}

function assetAt(path: string): PageFile {
  return { contentType: contentTypeOf(path), immutable: true, read: () => readFileSync(path) };
}
