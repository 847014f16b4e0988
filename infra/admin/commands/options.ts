import { type Command, InvalidArgumentError, Option } from 'commander';
import { type AnyStageName, parseStageName, STAGE_NAMES } from '../../stages.ts';
import { DEFAULT_URL, targetOption, type TargetOptions } from '../target-options.ts';
import { findTarget, type Target } from '../target.ts';
import { visible } from '../text-format.ts';
import { progressListener } from './output.ts';

/** The result of a command. */
export interface Outcome {
  /** For scripts: what `--json` prints, as one JSON value in one line. */
  readonly value: unknown;
  /** For people. */
  readonly text: string;
  /** What is left to do once that has been printed. @returns what else there is to print, for people */
  readonly after?: () => Promise<string>;
}

/** @param textOf gets the value with its control characters made visible: a name may have any */
export function outcome<Value>(value: Value, textOf: (shown: Value) => string): Outcome {
  const shown: Value = JSON.parse(JSON.stringify(value), (_, field: unknown) =>
    typeof field === 'string' ? visible(field) : field,
  );
  return { value, text: textOf(shown) };
}

/**
 * Runs a command on the service that its options name, and prints the outcome.
 *
 * @param work finds the service when it needs it; it gets the first argument of the command, too
 */
// The options that a command was given are those that it was made with.
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters
export function onService<Options = object>(
  command: Command,
  work: (target: () => Promise<Target>, options: Options, argument: string) => Promise<Outcome>,
): Command {
  return command.option('--json', 'print one JSON value: npm run --silent …', false).action(async () => {
    const options = command.opts<Options & { readonly json: boolean }>();
    const target = targetOptionsOf(command);
    const find = (): Promise<Target> => findTarget(target, progressListener(targetOption(target)));
    const { value, text, after } = await work(find, options, command.args[0] ?? '');
    await print(options.json ? visible(JSON.stringify(value)) : text);
    const more = await after?.();
    if (more !== undefined && !options.json) await print(more);
  });
}

/** For the help: how a key is named. */
export const KEY_ARGUMENT = 'id of the key, or its name where no other key has it';

/** @returns once the line has left this process */
const print = (line: string): Promise<void> =>
  new Promise((resolve, reject) => {
    process.stdout.write(`${line}\n`, (error) => (error ? reject(error) : resolve()));
  });

/** Adds the options that say where the service is: to the program, so that they may stand before or after a command. */
export function withTargetOptions(program: Command): Command {
  return program
    .addOption(
      new Option('--url <url>', `address of a running local host (default: ${DEFAULT_URL})`).env('PET_STORE_URL'),
    )
    .addOption(
      new Option('--stage <stage>', 'a stage on AWS, with the usual AWS credentials')
        .argParser(parseStage)
        .env('PET_STORE_STAGE'),
    );
}

export function parseStage(text: string): AnyStageName {
  const stage = parseStageName(text);
  if (stage) return stage;
  throw new InvalidArgumentError(`It must be ${STAGE_NAMES}.`);
}

/** Where the service is. The command line wins over the environment. */
export function targetOptionsOf(command: Command): TargetOptions {
  const { url, stage } = command.optsWithGlobals<TargetOptions>();
  if (url === undefined || stage === undefined) return { url, stage };
  const source = command.getOptionValueSourceWithGlobals('stage');
  if (source === command.getOptionValueSourceWithGlobals('url'))
    command.error('error: --url and --stage (or PET_STORE_URL and PET_STORE_STAGE) name two services: leave one out');
  return source === 'cli' ? { stage } : { url };
}
