import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';

/** As Scalar's repository has it (https://github.com/scalar/scalar/blob/main/LICENSE): its package has no such file. */
const COPYRIGHT = 'Copyright (c) 2023-present Scalar';

/** A folder of pnpm in the name of a source, such as `.pnpm/@vue+shared@3.5.40/`: package and version. */
const PNPM_FOLDER = /\.pnpm\/(@?[^@/"]+)@(\d[^_/"]*)/g;

const packageSchema = v.object({ version: v.string(), license: v.literal('MIT'), homepage: v.string() });

/**
 * The licence notice of Scalar, and the packages that are bundled in its files: no lock file has them, so that no audit
 * sees them. The text of the MIT licence is that of this service's own.
 *
 * @throws Error where Scalar is under another licence, or its source maps name no packages
 */
export function scalarLicense(scalarFolder: string): string {
  const { version, homepage } = v.parse(packageSchema, JSON.parse(read(scalarFolder, '../../package.json')));
  const text = read(import.meta.dirname, '../../LICENSE').replace(/^Copyright .*$/m, COPYRIGHT);
  return `This page is shown by Scalar API Reference ${version} (${homepage}).

${text}
Its files have parts of these packages in them, each under the licence that its page on npm names:

${bundledPackages(scalarFolder).join('\n')}
`;
}

function bundledPackages(scalarFolder: string): readonly string[] {
  const files = readdirSync(scalarFolder, { recursive: true, encoding: 'utf8' });
  // Beside the modules there is one file of all, which the page does not have.
  const maps = files.filter((file) => file.endsWith('.js.map') && file !== 'standalone.js.map');
  const packages = new Set(maps.flatMap((file) => packagesIn(read(scalarFolder, file))));
  if (packages.size === 0) throw new Error(`The source maps of ${scalarFolder} name no packages`);
  return [...packages].toSorted();
}

const packagesIn = (sourceMap: string): string[] =>
  Array.from(sourceMap.matchAll(PNPM_FOLDER), ([, name = '', version = '']) => `${name.replace('+', '/')} ${version}`);

const read = (folder: string, path: string): string => readFileSync(join(folder, path), 'utf8');
