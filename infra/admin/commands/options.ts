import { type Command, Option } from 'commander';
import { planIds } from '../../../shared/keys/plans.ts';
import { stageNames } from '../../stages.ts';
import { parsePerDay, parsePerMinute } from '../inputs.ts';
import type { TargetOptions } from '../target.ts';
import type { OutputOptions } from './output.ts';

/** What every command takes. */
export type CommonOptions = TargetOptions & OutputOptions;

const LOCAL_HOST = 'http://localhost:3000';

/** Adds the options that every command takes. */
export function withCommonOptions(command: Command): Command {
  return withTargetOptions(command).option('--json', 'print one JSON value, for scripts', false);
}

/** Adds those that say where the service is. */
export function withTargetOptions(command: Command): Command {
  return command
    .addOption(new Option('--url <url>', 'address of a running local host').default(LOCAL_HOST))
    .addOption(
      new Option('--stage <stage>', 'a stage on AWS, with the usual AWS credentials')
        .choices(stageNames)
        .conflicts('url'),
    );
}

export const planOption = (): Option => new Option('--plan <plan>', 'the plan').choices(planIds);

export function limitOptions(command: Command): Command {
  return command
    .option('--per-minute <n>', 'agreed requests a minute, for Enterprise', parsePerMinute)
    .option('--per-day <n>', 'agreed requests a day, for Enterprise', parsePerDay);
}
