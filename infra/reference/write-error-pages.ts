import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { errorPages } from './error-pages.ts';

/** `npm run docs`: writes the pages that are derived from the code. */
const folder = join(import.meta.dirname, '../../docs/errors');

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
const pages = Object.entries(errorPages());
for (const [name, page] of pages) {
  const file = join(folder, name);
  writeFileSync(file, await format(page, { ...(await resolveConfig(file)), filepath: file }));
}
process.stdout.write(`Wrote ${pages.length} pages to docs/errors.\n`);
