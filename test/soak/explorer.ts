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
  'create',
  'move to Pro',
  'move to Enterprise',
  'rotate',
  'add',
  'end',
  'suspend',
  'suspend for a while',
  'resume',
  'revoke',
  'sync',
] as const satisfies readonly CommandName[];

/** Faults that such machinery has had, each with the two commands whose calls took turns in it. */
const knownFaults: Readonly<Record<string, readonly [CommandName, CommandName]>> = {
  'of two rotations at once each shows a token that works, or fails': ['rotate', 'rotate'],
  'a rotation and a move leave the plan as it was moved': ['rotate', 'move to Enterprise'],
  'a sync and a rotation wait for no one': ['rotate', 'sync'],
  'a sync does not write limits over a move': ['sync', 'move to Pro'],
  'of two moves at once one fails, or both systems have the same': ['move to Pro', 'move to Enterprise'],
  'a suspension beside a resumption is in both systems, or in none': ['suspend', 'resume'],
};

/** Goes through all schedules up to a size, and reports how many. @throws Error at the first that breaks a rule */
export async function exploreAll(isWhole: boolean, report: (line: string) => void): Promise<void> {
  await exploreAllRequests(isWhole ? 2 : 0, report);
  const explorer = new CommandExplorer();
  try {
    for (const [title, [first, second]] of Object.entries(knownFaults)) {
      const schedules = await explorer.explore(pairOf(first, second, { switches: 2, faults: 0 }));
      report(`commands: ${title}: ${schedules.schedules} schedules`);
    }
    if (!isWhole) return;
    let total = 0;
    for (const first of names) {
      for (const second of names) {
        const sizes = [
          { switches: 3, faults: 0 },
          { switches: 1, faults: 1 },
        ];
        for (const size of sizes) total += (await explorer.explore(pairOf(first, second, size))).schedules;
      }
    }
    report(`commands: every pair: ${total} schedules`);
  } finally {
    explorer.close();
  }
}

async function exploreAllRequests(faults: number, report: (line: string) => void): Promise<void> {
  for (const incident of Object.keys(incidents)) {
    const total = { schedules: 0, states: 0 };
    for (const environments of placements) {
      const { schedules, states } = await exploreRequests({ incident, environments, faults });
      total.schedules += schedules;
      total.states += states;
    }
    report(`requests: ${incident}: ${total.schedules} schedules, ${total.states} states`);
  }
  const one = await exploreRequests({ incident: 'end', environments: [0, 0, 1], faults: Math.max(1, faults) });
  report(`requests: end, with faults: ${one.schedules} schedules, ${one.states} states`);
}

/** A key is suspended at first where a command is to resume it. */
function pairOf(
  first: CommandName,
  second: CommandName,
  size: Pick<CommandsToExplore, 'switches' | 'faults'>,
): CommandsToExplore {
  const start = first === 'resume' || second === 'resume' ? 'suspended' : 'open';
  return { first, second, start, ...size };
}
