import { Command } from 'commander';
import { type PlanId, planIds, plans } from '../../shared/keys/plans.ts';
import { type CommonOptions, withCommonOptions } from './options.ts';
import { number, print, table, warn } from './output.ts';
import { findTarget, type Target } from './target.ts';

interface PlanView {
  readonly plan: PlanId;
  readonly title: string;
  /** Null: as agreed with each customer. */
  readonly perMinute: number | null;
  readonly perDay: number | null;
  readonly keys: number;
}

/** `plans …`. */
export function plansCommand(): Command {
  const command = new Command('plans').description('plans: what a key may do');
  withCommonOptions(command.command('list'))
    .description('shows the plans, their limits, and how many keys each has')
    .action(async (options: CommonOptions) => {
      const views = await listPlans(await findTarget(options));
      print(options, views, () => planTable(views));
    });
  return command;
}

async function listPlans({ keyTable }: Target): Promise<PlanView[]> {
  const counts = new Map<PlanId, number>();
  for await (const page of keyTable.pages(warn)) {
    for (const { plan, revoked } of page) if (!revoked) counts.set(plan, (counts.get(plan) ?? 0) + 1);
  }
  return planIds.map((plan) => {
    const { title, limits } = plans[plan];
    const fixed = limits === 'agreed' ? { perMinute: null, perDay: null } : limits;
    return { plan, title, perMinute: fixed.perMinute, perDay: fixed.perDay, keys: counts.get(plan) ?? 0 };
  });
}

const limitText = (value: number | null): string => (value === null ? 'as agreed' : number(value));

function planTable(views: readonly PlanView[]): string {
  return table(
    ['plan', 'requests a minute', 'requests a day', 'keys'],
    views.map((view) => [view.title, limitText(view.perMinute), limitText(view.perDay), number(view.keys)]),
    [1, 2, 3],
  );
}
