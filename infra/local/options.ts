import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { LocalServerError } from './local-server-error.ts';

export interface StartOptions {
  readonly port: number;
  readonly host: string;
  /** `memory`, or a directory. */
  readonly data: string;
  readonly sampleData: boolean;
  readonly assembly?: string;
  readonly quiet: boolean;
  readonly json: boolean;
  readonly watch?: boolean;
  readonly inspect?: number;
}

/**
 * Reads the command line of `npm start`.
 *
 * @returns undefined for --help
 * @throws LocalServerError for an invalid option
 */
export function parseStartOptions(args: readonly string[]): StartOptions | undefined {
  const command = new Command('npm start --')
    .description('Run the service on this machine: the synthesized template with an embedded database.')
    .option('--port <number>', 'port to listen on; 0 for any free one', parsePort, 3000)
    .option('--host <address>', 'address or name to listen on, and to accept in requests', parseText, '127.0.0.1')
    .option('--data <directory>', 'directory of stock, keys and logs, or "memory"', parseText, '.local')
    .option('--no-sample-data', 'do not add sample data to an empty store')
    .option('--assembly <directory>', 'run an existing cloud assembly (cdk.out)', parseText)
    .option('--quiet', 'hide requests and errors', false)
    .option('--json', 'print only one line of JSON on standard output, when ready', false)
    .option('--watch', 'apply saved files of functions/ and shared/')
    .addOption(
      new Option('--inspect [port]', 'accept a debugger; turns timeouts off').preset('9229').argParser(parsePort),
    )
    .addHelpText('after', '\nExample:\n  npm start -- --port 4000 --data memory')
    .allowExcessArguments(false)
    .showSuggestionAfterError(false)
    .configureOutput({ outputError: () => undefined })
    .exitOverride();
  try {
    return command.parse(args, { from: 'user' }).opts<StartOptions>();
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return undefined;
    throw new LocalServerError(`${error.message.replace(/^error: /, '')} (see npm start -- --help)`);
  }
}

function parsePort(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new InvalidArgumentError('It must be a number from 0 to 65535.');
}

function parseText(text: string): string {
  if (text.trim() === '') throw new InvalidArgumentError('It must not be empty.');
  return text;
}
