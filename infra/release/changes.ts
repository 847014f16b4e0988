import { Writable } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { CloudFormationClient, GetTemplateCommand } from '@aws-sdk/client-cloudformation';
import { formatDifferences, fullDiff } from '@aws-cdk/cloudformation-diff';
import { CloudAssembly } from 'aws-cdk-lib/cx-api';
import { Command, Option } from 'commander';
import * as v from 'valibot';
import { stackNameOf, type StageName, stageNames } from '../stages.ts';
import { lossesOf, type Template, templateSchema } from './losses.ts';

/**
 * `npm run changes`: what a deploy would change, forward or back. It refuses what takes a table away from the service, unless
 * a line of the description allows it, or its name is given.
 */

const DESCRIPTION = 'PULL_REQUEST_DESCRIPTION';

/** First line of the comment on a pull request, by which the next one finds it and takes its place. */
const COMMENT_MARK = '<!-- changes to the deployed stacks -->';

const FENCE = '`'.repeat(6);

/** GitHub takes comments of up to 65,536 characters. */
const MAX_COMMENT = 60_000;

interface Options {
  readonly app: string;
  readonly against?: string;
  readonly stage?: StageName;
  readonly lose: readonly string[];
  readonly markdown: boolean;
}

const command = new Command('npm run changes --')
  .description(
    'Compares the synthesized stacks with the deployed ones. Exits with 1 where a table would be lost, --lose does not ' +
      `name it and the variable ${DESCRIPTION} has no line “Replaces-table: STACK/TABLE: why”; with 2 where it cannot ` +
      'be known.',
  )
  .option('--app <dir>', 'the synthesized stacks', 'cdk.out')
  .option('--against <dir>', 'other synthesized stacks, instead of the deployed ones')
  .addOption(new Option('--stage <stage>', 'the stacks of this stage only').choices(stageNames))
  .option('--lose <table...>', 'tables that may be lost, each as STACK/TABLE', [])
  .option('--markdown', 'print Markdown, for a comment', false)
  .addHelpText('after', '\nExample:\n  npm run changes -- --against other/cdk.out')
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
  .action(printChanges);

try {
  await command.parseAsync();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 2;
}

async function printChanges({ app, against, stage, lose, markdown }: Options): Promise<void> {
  const after = synthesized(app);
  const before = against === undefined ? await deployed(after.keys(), stage) : synthesized(against);
  const reasons = allowedIn(process.env[DESCRIPTION] ?? '');
  for (const table of lose) reasons.set(table, 'Allowed: by its name.');
  const names = [...new Set([...after.keys(), ...before.keys()])].filter((name) => isOf(stage, name)).toSorted();
  const losses = names.flatMap((name) => lossesIn(name, before.get(name), after.get(name)));
  const refused = losses.filter(({ of }) => !reasons.has(of));
  const report = [
    ...losses.map(({ of, what }) => `Loss: ${of} ${what}. ${reasons.get(of) ?? 'Not allowed.'}`),
    ...refused.map(
      ({ of }) => `If that is meant: --lose ${of}, or in a pull request's description: Replaces-table: ${of}: why`,
    ),
    ...names.map((name) => `${name}: ${changesOf(before.get(name), after.get(name))}`),
  ].join('\n');
  process.stdout.write(markdown ? asComment(report) : `${report}\n`);
  if (refused.length === 0) return;
  const lost = refused.map(({ of }) => of).join(', ');
  process.stderr.write(`Data would be lost, and nothing says that this is meant: ${lost}\n`);
  process.exitCode = 1;
}

/** Whether a stack is one of the stage, or no stage is given. */
function isOf(stage: StageName | undefined, stack: string): boolean {
  return stage === undefined || stack.startsWith(`${stage}-`);
}

/** The losses that a text allows, each with the reason. */
function allowedIn(text: string): Map<string, string> {
  const lines = text.matchAll(/^[ \t]*(?:[-*][ \t]+)?Replaces-table:[ \t]*([^\s:]+):[ \t]+(\S.*)$/gm);
  return new Map([...lines].map(([, of = '', reason = '']) => [of, `Allowed: ${reason}`]));
}

function lossesIn(stack: string, before: Template | undefined, after: Template | undefined) {
  if (!before) return [];
  return [...lossesOf(before, after)].map(([table, what]) => ({ of: `${stack}/${table}`, what }));
}

/** What a deploy changes in a stack, as `cdk diff` prints it. */
function changesOf(before: Template | undefined, after: Template | undefined): string {
  if (!after) return 'no longer in the app; it stays as it is';
  if (!before) return `new, with ${Object.keys(after.Resources).length} resources`;
  const diff = fullDiff(before, after);
  if (diff.isEmpty) return 'no changes';
  const parts: string[] = [];
  const stream = new Writable({ write: (chunk, _, done) => (parts.push(String(chunk)), done()) });
  formatDifferences(stream, diff);
  return `\n${stripVTControlCharacters(parts.join('')).trim()}\n`;
}

function asComment(report: string): string {
  const isLong = report.length > MAX_COMMENT;
  const shown = isLong ? `${report.slice(0, MAX_COMMENT)}\n… npm run changes prints the rest` : report;
  // What the pull request has in its templates must not end the block, and go on in the name of the check.
  return `${COMMENT_MARK}\n\n${FENCE}text\n${shown.replaceAll(FENCE, '……')}\n${FENCE}\n`;
}

/** The templates of a cloud assembly, by the names of their stacks. */
function synthesized(folder: string): Map<string, Template> {
  // Templates are the same in every version; a pull request may bring a newer CDK than the one that reads it here.
  const { stacksRecursively: stacks } = new CloudAssembly(folder, { skipVersionCheck: true });
  if (stacks.length === 0) throw new Error(`The cloud assembly ${folder} has no stacks.`);
  return new Map(stacks.map(({ stackName, template }) => [stackName, v.parse(templateSchema, template)]));
}

/** The templates that these stacks, and those with the tables, were last deployed from. */
async function deployed(stackNames: Iterable<string>, stage?: StageName): Promise<Map<string, Template>> {
  const client = new CloudFormationClient({});
  const templates = new Map<string, Template>();
  const names = new Set([...stackNames, ...stageNames.map(stackNameOf)]);
  for (const name of [...names].filter((one) => isOf(stage, one)).toSorted()) {
    try {
      const { TemplateBody: body = '' } = await client.send(new GetTemplateCommand({ StackName: name }));
      // A stack whose first change set was never carried out has none.
      if (body !== '') templates.set(name, v.parse(templateSchema, JSON.parse(body)));
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (/^Stack with id \S+ does not exist$/.test(reason)) continue;
      throw new Error(`The deployed template of ${name} cannot be read: ${reason} (see --against)`, { cause: error });
    }
  }
  return templates;
}
