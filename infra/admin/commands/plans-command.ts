import { Command } from 'commander';
import { listPlans, type PlanView } from '../keys/list-keys.ts';
import { findTarget } from '../target.ts';
import { type CommonOptions, withCommonOptions } from './options.ts';
import { number } from '../words.ts';
import { notices, print, table } from './output.ts';

/** `plans …`. */
export function plansCommand(): Command {
  const command = new Command('plans').description('plans: what a key may do');
  withCommonOptions(command.command('list'))
    .description('shows the plans, their limits, and how many keys each has')
    .action(async (options: CommonOptions) => {
      const views = await listPlans(await findTarget(options, notices));
      print(options, views, () => planTable(views));
    });
  return command;
}

const limitText = (value: number | null): string => (value === null ? 'as agreed' : number(value));

function planTable(views: readonly PlanView[]): string {
  return table(
    ['plan', 'requests a minute', 'requests a day', 'keys'],
    views.map((view) => [view.title, limitText(view.perMinute), limitText(view.perDay), number(view.keys)]),
    [1, 2, 3],
  );
}
