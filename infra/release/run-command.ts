import { type Command, CommanderError } from 'commander';
import { awsReason } from '../admin/admin-error.ts';
import { ReleaseError } from './release-error.ts';

/** What a command exits with that could not do its work. 1 is kept for work that was done and found something wrong. */
const FAILED = 2;

/** Runs a command of the pipeline. Its failures are one line on standard error, and exit code 2. */
export async function runCommand(command: Command): Promise<void> {
  command
    .allowExcessArguments(false)
    .showSuggestionAfterError(false)
    .configureOutput({ outputError: () => undefined })
    .exitOverride();
  try {
    await command.parseAsync();
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return;
    process.stderr.write(`${describe(command.name(), error)}\n`);
    process.exitCode = FAILED;
  }
}

function describe(name: string, error: unknown): string {
  if (error instanceof CommanderError) {
    return `${error.message.replace(/^error: /, '').replaceAll('\n', ' ')} (see ${name} --help)`;
  }
  if (error instanceof ReleaseError) return error.message;
  return awsReason(error) ?? (error instanceof Error ? (error.stack ?? error.message) : String(error));
}
