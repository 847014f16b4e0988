import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { format, resolveConfig } from 'prettier';
import { errorPage } from './error-page.ts';

/** `npm run docs`: writes the page of the errors, which is derived from the code. */
await new Command('npm run docs --')
  .description('Writes docs/errors.md, the page of the errors, which is derived from the code.')
  .addHelpText('after', '\nExample:\n  npm run docs')
  .allowExcessArguments(false)
  .action(write)
  .parseAsync();

async function write(): Promise<void> {
  const file = join(import.meta.dirname, '../../docs/errors.md');
  writeFileSync(file, await format(errorPage(), { ...(await resolveConfig(file)), filepath: file }));
  process.stdout.write('Wrote docs/errors.md.\n');
}
