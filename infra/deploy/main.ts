import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command, CommanderError } from 'commander';
import { failureText, visibleLines } from '../failures.ts';
import { parseStage } from '../parse-stage.ts';
import { STAGE_NAMES } from '../stages.ts';
import { type DeployOptions, deployStage, findStage, prepareStage } from './deploy-stage.ts';
import { run } from './run.ts';

const command = new Command('npm run deploy --')
  .description('Deploy a stage from this commit, and run the smoke test. Safe to interrupt and to repeat.')
  .requiredOption('--stage <stage>', STAGE_NAMES, parseStage)
  .option(
    '--roll-back',
    'roll back to this commit: cancel an update in progress, and shift all traffic immediately',
    false,
  )
  .option('--allow-table-loss <table...>', 'allow the loss of these tables and their data (logical ids)', [])
  .option('--dry-run', 'show the difference to the deployed stack (cdk diff), and stop', false)
  .option('--status', 'show the commit that runs and the one before it, and stop', false)
  .addHelpText('after', '\nExample:\n  npm run deploy -- --stage staging --dry-run')
  .addHelpText('after', '\nStatus: runs locally and on emulators, not yet deployed to an AWS account.')
  .configureOutput({ outputError: () => undefined })
  .exitOverride();

/** `npm run deploy`: deploys a stage to AWS, manually and in the workflows. @returns the exit status */
export async function deployCommand(words: readonly string[]): Promise<number> {
  const assembly = mkdtempSync(join(tmpdir(), 'assembly-'));
  try {
    const options = command.parse(words, { from: 'user' }).opts<DeployOptions>();
    const before = await findStage(options);
    if (options.status) return 0;
    await prepareStage(options, before, assembly);
    if (options.dryRun) await run('cdk', ['diff', `${options.stage}/*`, '--app', assembly, '--method', 'template']);
    else await deployStage(options, before, assembly);
    return 0;
  } catch (error) {
    const isUsage = error instanceof CommanderError;
    const text = isUsage ? `${error.message} (see npm run deploy -- --help)` : failureText(error, 'run it again');
    if (!isUsage || error.exitCode !== 0) process.stderr.write(`${visibleLines(text ?? String(error))}\n`);
    return isUsage ? error.exitCode : 1;
  } finally {
    rmSync(assembly, { recursive: true });
  }
}

if (import.meta.main) {
  // The running step is interrupted as well; the key of the smoke test is revoked nevertheless.
  process.on('SIGINT', () => process.stderr.write('Interrupted. CloudFormation completes the update in progress.\n'));
  process.exitCode = await deployCommand(process.argv.slice(2));
}
