import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { type Environment, environments } from './document.ts';

export interface OpenApiOptions {
  readonly server: string;
  readonly stage: Environment;
  /** A file, or `-` for standard output. */
  readonly out: string;
}

/** Where `npm start` listens. */
export const LOCAL_SERVER = 'http://localhost:3000/v1';
const DEFAULT_OUT = 'docs/openapi.json';

/**
 * Reads the command line of `npm run openapi`.
 *
 * @returns undefined where only help was asked for
 * @throws Error with one line on a bad option
 */
export function parseOpenApiOptions(args: readonly string[]): OpenApiOptions | undefined {
  const command = new Command('npm run openapi --')
    .description('Writes the OpenAPI document of the service.')
    .option('--server <url>', 'base address of the service, which ends in /v1', parseServer, LOCAL_SERVER)
    .addOption(new Option('--stage <stage>', 'what runs there').choices(environments).default('local'))
    .option('--out <file>', 'file to write, or - for standard output', parseOut, DEFAULT_OUT)
    .allowExcessArguments(false)
    .showSuggestionAfterError(false)
    .configureOutput({ outputError: () => undefined })
    .exitOverride();
  try {
    return command.parse(args, { from: 'user' }).opts<OpenApiOptions>();
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return undefined;
    throw new Error(`${error.message.replace(/^error: /, '')} (see npm run openapi -- --help)`, { cause: error });
  }
}

function parseServer(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain = url && ['http:', 'https:'].includes(url.protocol) && url.href === url.origin + url.pathname;
  if (isPlain && /\/v\d+\/?$/.test(url.pathname)) return url.href.replace(/\/$/, '');
  throw new InvalidArgumentError('It must be an address that ends in the version, such as https://api.example.com/v1.');
}

function parseOut(text: string): string {
  if (text.trim() === '') throw new InvalidArgumentError('It must not be empty.');
  return text;
}
