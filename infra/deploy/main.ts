import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { failureText } from '../admin/admin-error.ts';
import { parseStage } from '../admin/commands/options.ts';
import { visibleLines } from '../admin/text-format.ts';
import { type AnyStageName, STAGE_NAMES } from '../stages.ts';
import { findAccount } from './account.ts';
import { setUpPipeline } from './pipeline.ts';
import { type DeployOptions, deployStage } from './stage.ts';
import { say } from './steps.ts';

type Options = DeployOptions & { stage?: AnyStageName; fromPipeline?: string };

/** `npm run deploy`: brings a stage to AWS by hand, or sets up the pipeline that does. */
const command = new Command('npm run deploy --')
  .description('Deploys a stage and tries it. It is safe to interrupt and to run again: what is done is skipped.')
  .option('--stage <stage>', STAGE_NAMES, parseStage)
  .option('--from-pipeline <repository>', 'let GitHub deploy instead: OWNER/NAME, or OWNER@ID/NAME@ID', parseRepository)
  .option('--url <url>', 'where the smoke test finds the API, if not at its own address yet')
  .option('--lose <table...>', 'tables that may be lost, each as STACK/TABLE')
  .option('--yes', 'do not ask', false)
  .allowExcessArguments(false)
  .showSuggestionAfterError(false)
  .configureOutput({ outputError: () => undefined })
  .exitOverride();

process.on('SIGINT', () => end(130, 'Interrupted. CloudFormation ends what it has begun; then run this again.'));
try {
  const { stage, fromPipeline = '', ...options } = command.parse().opts<Options>();
  if ((stage === undefined) === (fromPipeline === '')) command.error('give --stage or --from-pipeline');
  const account = await findAccount();
  say('Account', `${account.id}, ${account.region}, as ${account.user}`);
  await (stage ? deployStage(account, stage, options) : setUpPipeline(account, fromPipeline, options.yes));
} catch (error) {
  if (!(error instanceof CommanderError)) end(1, failureText(error, 'run the same command again') ?? String(error));
  if (error.exitCode !== 0) end(1, `${error.message.replace('error: ', '')} (see npm run deploy -- --help)`);
}

function end(status: number, words: string): never {
  process.stderr.write(`${visibleLines(words)}\n`);
  process.exit(status);
}

function parseRepository(text: string): string {
  if (/^[\w.-]+(?:@\d+)?\/[\w.-]+(?:@\d+)?$/.test(text)) return text;
  throw new InvalidArgumentError('It must be a repository on GitHub, such as acme/pets.');
}
