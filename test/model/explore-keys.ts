import { messageOf } from '../../shared/log.ts';
import type { CommandName } from '../support/in-process-target.ts';
import { blocks } from './console-edits.ts';
import { type ActorName, faults, KeyExplorer, type Scenario } from './key-explorer.ts';

const firsts: readonly CommandName[] = [
  'create',
  'move to Pro',
  'move to Enterprise',
  'move off Enterprise',
  'edit',
  'rotate',
  'end',
  'suspend',
  'resume',
  'revoke',
  'sync',
];

const seconds: readonly ActorName[] = [
  'move to Free',
  'move to Pro',
  'rotate',
  'end',
  'suspend',
  'resume',
  'revoke',
  'sync',
  'console: move',
  'console: take off',
  'console: disable',
  'console: enable',
  'console: rename',
  'console: delete',
  'console: delete several',
  'console: delete all',
];

const GONE = ['console: delete', 'console: delete all'] as const;

type Pair = Pick<Scenario, 'first' | 'second'>;

const pairs: readonly Pair[] = firsts.flatMap((first) => seconds.map((second) => ({ first, second })));

/** No command makes so many calls. */
const MAX_CALLS = 30;

/** The first actor is stopped at each of its calls, in each way; with `until` the second is too, at each of its own. */
function* scenarios(of: readonly Pair[], isDeep: boolean): Generator<Scenario> {
  for (const pair of of) {
    for (let at = 1; at <= MAX_CALLS; at++) {
      for (const hasOldLists of [false, true]) {
        for (const fault of faults) yield { ...pair, fault, at, hasOldLists };
        const block = blocks[at % blocks.length];
        if (block !== undefined && !pair.second.startsWith('console'))
          for (const fault of faults) yield { ...pair, fault, at, hasOldLists, block };
        for (const gone of pair.second.startsWith('console') || hasOldLists ? [] : GONE)
          for (const fault of faults) yield { ...pair, fault, at, hasOldLists, gone };
        for (let until = 1; until <= (isDeep ? MAX_CALLS : 0); until++)
          yield { ...pair, fault: 'stop', at, until, hasOldLists };
      }
    }
  }
}

/**
 * Runs every so many of all scenarios; all of them with the second one stopped, too.
 *
 * @param name of the only pair to run, such as `move to Pro with rotate`
 * @returns how many were run
 * @throws Error at the first that breaks a rule, or if there is no such pair
 */
export async function exploreKeys(every: number, name?: string): Promise<number> {
  const chosen = pairs.filter(({ first, second }) => name === undefined || name === `${first} with ${second}`);
  if (chosen.length === 0) throw new Error(`There is no pair "${name}". One is "${firsts[0]} with ${seconds[0]}".`);
  const explorer = new KeyExplorer();
  let [at, run] = [0, 0];
  for (const scenario of scenarios(chosen, every === 1 && name === undefined)) {
    if (scenario.at > explorer.callsOf(scenario) || at++ % every !== 0) continue;
    run += 1;
    await explorer.run(scenario).catch((error: unknown) => {
      throw new Error(`The model of keys fails: ${messageOf(error)} in ${JSON.stringify(scenario)}`, { cause: error });
    });
  }
  return run;
}
