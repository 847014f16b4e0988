import { Command, CommanderError, InvalidArgumentError } from 'commander';
import ms, { type StringValue } from 'ms';
import { DashboardError } from './dashboard-error.ts';
import type { From } from './time-range.ts';

export interface DashboardOptions {
  /** Folder of the host's data and logs. */
  readonly data: string;
  /** Folder of a cloud assembly that is there already. */
  readonly assembly?: string;
  readonly from?: From;
  /** Unix milliseconds. */
  readonly to?: number;
  /** File of the picture. */
  readonly out?: string;
  /** Name of a saved query to run in place of the picture. */
  readonly query?: string;
  readonly json: boolean;
}

/**
 * Reads the command line of `npm run dashboard`.
 *
 * @returns undefined where only help was asked for
 * @throws DashboardError on a bad option
 */
export function parseDashboardOptions(args: readonly string[]): DashboardOptions | undefined {
  const command = new Command('npm run dashboard --')
    .description(
      'Draws the CloudWatch dashboard, and evaluates the alarms, from the logs of the service on this machine.',
    )
    .option('--data <folder>', 'where npm start keeps its data and logs', '.local')
    .option('--assembly <folder>', 'take the dashboard from a cloud assembly that is there, such as cdk.out')
    .option('--from <time>', 'show from this time on: such as -1h before the end, or 2026-11-21T09:00Z', parseFrom)
    .option('--to <time>', 'show until this time; by default until the last line of the logs', parseTime)
    .option('--out <file>', 'the picture: .svg or .png; by default dashboard.svg beside the logs', parseFile)
    .option('--query <name>', 'run a saved query of Logs Insights on the logs instead, such as "Slowest requests"')
    .option('--json', 'print data points and alarms as JSON; no picture, unless --out says where', false)
    .allowExcessArguments(false)
    .showSuggestionAfterError(false)
    .configureOutput({ outputError: () => undefined })
    .exitOverride();
  try {
    return command.parse(args, { from: 'user' }).opts<DashboardOptions>();
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return undefined;
    throw new DashboardError(`${error.message.replace(/^error: /, '')} (see npm run dashboard -- --help)`);
  }
}

function parseFrom(text: string): From {
  if (!text.startsWith('-')) return { at: parseTime(text) };
  const duration = text.slice(1);
  if (!isDuration(duration) || ms(duration) === 0) {
    throw new InvalidArgumentError('It must be a time, or a duration before the end such as -1h.');
  }
  return { before: ms(duration) };
}

function isDuration(text: string): text is StringValue {
  return /^\d+(?:\.\d+)?[smhd]$/.test(text);
}

function parseTime(text: string): number {
  const time = Date.parse(text);
  if (Number.isNaN(time)) throw new InvalidArgumentError('It must be a time such as 2026-11-21T09:00Z.');
  return time;
}

function parseFile(text: string): string {
  if (!/\.(?:svg|png)$/.test(text)) throw new InvalidArgumentError('It must end in .svg or .png.');
  return text;
}
