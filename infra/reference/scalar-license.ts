import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';

/** As Scalar's repository has it (https://github.com/scalar/scalar/blob/main/LICENSE): its package has no such file. */
const COPYRIGHT = 'Copyright (c) 2023-present Scalar';

const packageSchema = v.object({ version: v.string(), license: v.literal('MIT'), homepage: v.string() });

/** The licence notice of Scalar; the text of the MIT licence is that of this service's own. @throws Error where it is under another */
export function scalarLicense(scalarFolder: string): string {
  const manifest: unknown = JSON.parse(readFileSync(join(scalarFolder, '../../package.json'), 'utf8'));
  const { version, homepage } = v.parse(packageSchema, manifest);
  const text = readFileSync(join(import.meta.dirname, '../../LICENSE'), 'utf8').replace(/^Copyright .*$/m, COPYRIGHT);
  return `This page is shown by Scalar API Reference ${version} (${homepage}).\n\n${text}`;
}
