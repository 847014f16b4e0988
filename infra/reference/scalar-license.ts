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
 * @throws Error where Scalar is under another licence
 */
export function scalarLicense(scalarFolder: string): string {
  const read = (path: string): string => readFileSync(join(scalarFolder, path), 'utf8');
  const { version, homepage } = v.parse(packageSchema, JSON.parse(read('../../package.json')));
  const text = readFileSync(join(import.meta.dirname, '../../LICENSE'), 'utf8').replace(/^Copyright .*$/m, COPYRIGHT);
  const files = readdirSync(scalarFolder, { recursive: true, encoding: 'utf8' });
  // Beside the modules there is one file of all, which the page does not have.
  const maps = files.filter((file) => file.endsWith('.js.map') && file !== 'standalone.js.map');
  const found = maps.flatMap((file) => Array.from(read(file).matchAll(PNPM_FOLDER)));
  const packages = new Set(found.map(([, name = '', bundled = '']) => `${name.replace('+', '/')} ${bundled}`));
  return `This page is shown by Scalar API Reference ${version} (${homepage}).

${text}
Its files have parts of these packages in them, each under the licence that its page on npm names:

${[...packages].toSorted().join('\n')}
`;
}
