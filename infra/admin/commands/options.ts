import { type Command, Option } from 'commander';
import { parseStage } from '../../parse-stage.ts';
import { findTarget, type Target } from '../service/target.ts';
import { DEFAULT_URL, targetOption, type TargetOptions, visible, withTarget } from '../service/text.ts';
import { reporter } from './output.ts';

export interface Outcome {
  /** Printed with `--json`, as one JSON value in one line. */
  readonly value: unknown;
  /** For people. Its commands are for the default address: the option of the service is added to them. */
  readonly text: string;
  /** Runs after the output. @returns more text to print */
  readonly after?: () => Promise<string>;
}

/** @param textOf receives the value with its control characters escaped */
export function outcome<Value>(value: Value, textOf: (shown: Value) => string): Outcome {
  const shown: Value = JSON.parse(JSON.stringify(value), (_, field: unknown) =>
    typeof field === 'string' ? visible(field) : field,
  );
  return { value, text: textOf(shown) };
}

/** Runs a command on the selected service, and prints its outcome. */
// Commander has parsed these options.
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters
export function onService<Options = object>(
  command: Command,
  work: (target: Target, options: Options, first: string, second?: string) => Promise<Outcome>,
): Command {
  return command.option('--json', 'print JSON (use with npm run --silent)', false).action(async () => {
    const options = command.opts<Options & { readonly json: boolean }>();
    const selected = targetOptionsOf(command);
    const option = targetOption(selected);
    const target = await findTarget(selected, reporter(option));
    const { value, text, after } = await work(target, options, command.args[0] ?? '', command.args[1]);
    await print(options.json ? visible(JSON.stringify(value)) : withTarget(text, option));
    const more = await after?.();
    if (more !== undefined && !options.json) await print(more);
    // Its name may be that of a variable that was set long ago.
    if (target.stage !== undefined) process.stderr.write(`On the stage ${target.stage}.\n`);
  });
}

export const KEY_ARGUMENT = 'id of the key, or its name if unique';

const print = (line: string): Promise<void> =>
  new Promise((resolve, reject) => {
    process.stdout.write(`${line}\n`, (error) => (error ? reject(error) : resolve()));
  });

/** Adds the options that select the service, to the program: they may precede or follow the command. */
export function withTargetOptions(program: Command): Command {
  return program
    .addOption(
      new Option('--url <url>', `address of a running local server (default: ${DEFAULT_URL})`).env('PET_STORE_URL'),
    )
    .addOption(
      new Option('--stage <stage>', 'stage on AWS, with the usual AWS credentials')
        .argParser(parseStage)
        .env('PET_STORE_STAGE'),
    );
}

/** The selected service. The command line overrides the environment. */
export function targetOptionsOf(command: Command): TargetOptions {
  const { url, stage } = command.optsWithGlobals<TargetOptions>();
  if (url === undefined || stage === undefined) return { url, stage };
  const source = command.getOptionValueSourceWithGlobals('stage');
  if (source === command.getOptionValueSourceWithGlobals('url'))
    command.error('error: --url and --stage (or PET_STORE_URL and PET_STORE_STAGE) select two services: leave one out');
  return source === 'cli' ? { stage } : { url };
}
