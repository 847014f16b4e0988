import { existsSync, readFileSync } from 'node:fs';
import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { Command } from 'commander';
import { stackNameOf, stageNames } from '../../stages.ts';
import { ReleaseError } from '../release-error.ts';
import { runCommand } from '../run-command.ts';
import { allowancesIn } from './allowance.ts';
import { readTemplates } from './assembly-templates.ts';
import { deployedTemplate } from './deployed-template.ts';
import { allowanceLine, asMarkdown, asText, refusedTables } from './report.ts';
import { compareStack, type StackChanges } from './stack-changes.ts';
import type { StackIdentity, Template } from './template.ts';

/** `npm run changes`: what a deploy would change, and whether it would lose the data of a table. */

/** Where the description of a pull request stands, so that no shell reads it. */
const DESCRIPTION = 'PULL_REQUEST_DESCRIPTION';

interface Options {
  readonly app: string;
  readonly against?: string;
  readonly markdown: boolean;
  readonly allowedBy?: string;
}

/** What there was before, and which stacks besides those of the app may have been there. */
interface Before {
  readonly what: string;
  readonly stacks: readonly StackIdentity[];
  readonly templateOf: (stack: StackIdentity) => Promise<Template | undefined>;
}

await runCommand(
  new Command('npm run changes --')
    .description(
      'Compares the synthesized stacks with the deployed ones. Exits with 1 where a table would be lost ' +
        `and neither --allowed-by nor the variable ${DESCRIPTION} has a line “${allowanceLine('STACK/ID')}”; with 2 on failures.`,
    )
    .option('--app <dir>', 'the synthesized stacks', 'cdk.out')
    .option('--against <dir>', 'other synthesized stacks, instead of the deployed ones')
    .option('--markdown', 'print Markdown, for a comment', false)
    .option('--allowed-by <file>', 'a text that may allow the loss of tables')
    .action(printChanges),
);

async function printChanges({ app, against, markdown, allowedBy }: Options): Promise<void> {
  const after = readTemplates(app);
  const text = allowedBy === undefined ? (process.env[DESCRIPTION] ?? '') : readText(allowedBy);
  const before = against === undefined ? deployed() : synthesized(against);
  const templates = new Map(after.map(({ id, template }) => [id, template]));
  const gone = before.stacks.filter(({ id }) => !templates.has(id));
  const stacks: StackChanges[] = [];
  for (const stack of [...after, ...gone]) {
    const [was, is] = [await before.templateOf(stack), templates.get(stack.id)];
    if (was || is) stacks.push(compareStack(stack, was, is));
  }
  const allowances = allowancesIn(
    text,
    stacks.flatMap(({ tables }) => tables),
  );
  const report = { stacks, allowances, comparedWith: before.what };
  process.stdout.write(markdown ? asMarkdown(report) : `${asText(report)}\n`);
  const refused = refusedTables(report);
  if (refused.length === 0) return;
  process.stderr.write(`Tables would be lost, and nobody has said that it is meant: ${refused.join(', ')}\n`);
  process.exitCode = 1;
}

function synthesized(folder: string): Before {
  const stacks = readTemplates(folder);
  const templates = new Map(stacks.map(({ id, template }) => [id, template]));
  return { what: `the stacks in ${folder}`, stacks, templateOf: async ({ id }) => templates.get(id) };
}

function deployed(): Before {
  const client = new CloudFormationClient({});
  // The stacks with the tables, so that it is seen when the app calls one of them something else.
  const stacks = stageNames.map((stage) => {
    const name = stackNameOf(stage);
    return { name, id: name.replace('-', '/') };
  });
  return { what: 'the last deploy', stacks, templateOf: (stack) => deployedTemplate(client, stack) };
}

function readText(file: string): string {
  if (!existsSync(file)) throw new ReleaseError(`There is no file ${file}.`);
  return readFileSync(file, 'utf8');
}
