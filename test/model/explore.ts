import { createHash } from 'node:crypto';

/** An event that may happen next. */
export interface Step {
  readonly name: string;
  readonly act: () => Promise<void>;
}

/** Events in one order, from the beginning. */
export interface Schedule {
  /** What may happen next; nothing at the end. */
  steps(): readonly Step[];
  /** All that decides what may follow, and what is checked at the end. Without it no two schedules have a state in common. */
  state?(): unknown;
  /** What is wrong at the end. */
  violations(): Promise<readonly string[]>;
}

export interface Explored {
  readonly schedules: number;
  readonly states: number;
}

/**
 * Runs every schedule, each from its beginning: a run repeats the steps of an earlier one and takes another at its end.
 * What follows a state is explored once. @param begin must give the same where the same steps are taken
 *
 * @throws Error at the first schedule with a violation
 */
export async function explore(begin: () => Promise<Schedule>): Promise<Explored> {
  const visited = new Set<string>();
  const prefixes: number[][] = [[]];
  let schedules = 0;
  for (let prefix = prefixes.pop(); prefix; prefix = prefixes.pop()) {
    schedules += 1;
    const schedule = await begin();
    const taken: number[] = [];
    const names: string[] = [];
    let steps = schedule.steps();
    while (steps.length > 0) {
      const repeated = prefix[taken.length];
      if (repeated === undefined) {
        const state = hashOf(schedule.state?.() ?? names);
        if (visited.has(state)) break;
        visited.add(state);
        for (let other = steps.length - 1; other > 0; other--) prefixes.push([...taken, other]);
      }
      const choice = repeated ?? 0;
      taken.push(choice);
      names.push(steps[choice]?.name ?? '');
      await steps[choice]?.act();
      steps = schedule.steps();
    }
    const violations = steps.length > 0 ? [] : await schedule.violations();
    if (violations.length > 0) throw new Error(`${violations.join('\n')}\nafter ${names.join(', ')}`);
  }
  return { schedules, states: visited.size };
}

const hashOf = (state: unknown): string => createHash('sha1').update(JSON.stringify(state)).digest('base64');
