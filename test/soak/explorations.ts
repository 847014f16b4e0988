import { CommandExplorer, type CommandsToExplore } from '../model/explore-commands.ts';
import { exploreRequests, incidents } from '../model/explore-requests.ts';
import type { CommandName } from '../support/in-process-target.ts';

/** The environment of each of the three requests. The first is in the first: the two are alike. */
const placements = [
  [0, 0, 0],
  [0, 0, 1],
  [0, 1, 0],
  [0, 1, 1],
];

const names = [
  ...(['create', 'move to Pro', 'move to Enterprise', 'rotate', 'add', 'end'] as const),
  ...(['suspend', 'suspend for a while', 'resume', 'revoke', 'sync'] as const),
];

/** Faults that commands have had, each with the two whose calls took turns in it. */
const knownFaults: Readonly<Record<string, readonly [CommandName, CommandName]>> = {
  'of two rotations at once each shows a token that works, or fails': ['rotate', 'rotate'],
  'a rotation and a move leave the plan as it was moved': ['rotate', 'move to Enterprise'],
  'a sync and a rotation wait for no one': ['rotate', 'sync'],
  'a sync does not write limits over a move': ['sync', 'move to Pro'],
  'of two moves at once one fails, or both systems have the same': ['move to Pro', 'move to Enterprise'],
  'a suspension beside a resumption is in both systems, or in none': ['suspend', 'resume'],
};

/** Goes through all schedules up to a size, and reports how many. @throws Error at the first that breaks a rule */
export async function explore(isWhole: boolean, report: (line: string) => void): Promise<void> {
  for (const incident of Object.keys(incidents)) {
    await exploreIncident(`requests: ${incident}`, { incident, faults: isWhole ? 1 : 0 }, placements, report);
  }
  const faults = isWhole ? 2 : 1;
  await exploreIncident('requests: end, with faults', { incident: 'end', faults }, [[0, 0, 1]], report);
  const explorer = new CommandExplorer();
  const count = async (
    first: CommandName,
    second: CommandName,
    size: Pick<CommandsToExplore, 'switches' | 'faults'>,
  ) => {
    // A key is suspended at first where a command is to resume it.
    const start = first === 'resume' || second === 'resume' ? 'suspended' : 'open';
    return (await explorer.explore({ first, second, start, ...size })).schedules;
  };
  try {
    for (const [title, [first, second]] of Object.entries(knownFaults))
      report(`commands: ${title}: ${await count(first, second, { switches: 2, faults: 0 })} schedules`);
    if (!isWhole) return;
    for (const first of names) {
      let total = 0;
      for (const second of names)
        total +=
          (await count(first, second, { switches: 3, faults: 0 })) +
          (await count(first, second, { switches: 1, faults: 1 }));
      report(`commands: ${first}, beside each other one: ${total} schedules`);
    }
  } finally {
    explorer.close();
  }
}

async function exploreIncident(
  title: string,
  settings: { readonly incident: string; readonly faults: number },
  environments: readonly (readonly number[])[],
  report: (line: string) => void,
): Promise<void> {
  const total = { schedules: 0, states: 0 };
  for (const placement of environments) {
    const { schedules, states } = await exploreRequests({ ...settings, environments: placement });
    total.schedules += schedules;
    total.states += states;
  }
  report(`${title}: ${total.schedules} schedules, ${total.states} states`);
}
