import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { errorPage } from './error-page.ts';

/** `npm run docs`: writes the page of the errors, which is derived from the code. */
const file = join(import.meta.dirname, '../../docs/errors.md');

writeFileSync(file, await format(errorPage(), { ...(await resolveConfig(file)), filepath: file }));
process.stdout.write('Wrote docs/errors.md.\n');
