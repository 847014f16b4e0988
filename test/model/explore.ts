import { createHash } from 'node:crypto';

/**
 * Picks one of some options for what happens next. @param state all that decides what may happen from here on
 * @returns undefined where another schedule has been in this state: there is nothing new behind it
 */
export type Choose = (state: readonly unknown[], options: number) => number | undefined;

export interface Explored {
  readonly schedules: number;
  readonly states: number;
}

/**
 * Runs every schedule, each from its beginning: a run makes the choices of one before it, and the last of them anew.
 * What follows a state is explored once. @param run must do the same where the same is chosen
 */
export async function explore(run: (choose: Choose) => Promise<void>): Promise<Explored> {
  const visited = new Set<string>();
  const prefixes: number[][] = [[]];
  let schedules = 0;
  for (let prefix = prefixes.pop(); prefix; prefix = prefixes.pop()) {
    const made: number[] = [];
    const before = prefix;
    schedules += 1;
    await run((state, options) => {
      const known = before[made.length];
      if (known === undefined) {
        const hash = createHash('sha1').update(JSON.stringify(state)).digest('base64');
        if (visited.has(hash)) return undefined;
        visited.add(hash);
        for (let other = options - 1; other > 0; other--) prefixes.push([...made, other]);
      }
      const choice = known ?? 0;
      made.push(choice);
      return choice;
    });
  }
  return { schedules, states: visited.size };
}
