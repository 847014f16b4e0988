import { faultsOfLimiter, type PlantedFault } from '../model/planted-faults.ts';
import type { Tamper } from '../model/virtual-table.ts';
import { brokenLimiters } from './broken.ts';
import { fuzzRound } from './fuzz.ts';

export interface Outcome {
  readonly violations: readonly string[];
  readonly counts: Readonly<Record<string, number>>;
}

export interface Model {
  /** What it looks at, for the help. */
  readonly title: string;
  /** Rounds where none are asked for. One in virtual time takes milliseconds, one of a real host some seconds. */
  readonly seeds: number;
  /** Rounds of `--small`, each of which may be smaller too. */
  readonly small: number;
  /** Runs one round, and says what was wrong in it, and how often what happened. */
  readonly run: (seed: number, isSmall: boolean, tamper?: Tamper) => Promise<Outcome>;
  /** Faults that it must find, by what they are, and those in the source of the program. */
  readonly broken?: Readonly<Record<string, Tamper>>;
  readonly planted?: readonly PlantedFault[];
}

export const models: Readonly<Record<string, Model>> = {
  limiter: {
    title: 'admissions, in virtual time',
    seeds: 10_000,
    small: 40,
    broken: brokenLimiters,
    planted: faultsOfLimiter,
    run: async (seed, _, tamper) => {
      // Loaded once a fault is planted in it.
      const { runLimiter } = await import('../model/limiter-schedule.ts');
      const { violationsOfLimiter } = await import('../model/limiter-check.ts');
      const history = await runLimiter(seed, tamper);
      const outcomes = history.requests.map(({ outcome }) =>
        outcome.kind === 'refused' ? outcome.reason : outcome.kind,
      );
      return { violations: violationsOfLimiter(history), counts: countsOf(outcomes) };
    },
  },
  fuzz: {
    title: 'hostile requests of a local server, with responses as the OpenAPI document says',
    seeds: 25,
    small: 1,
    run: fuzzRound,
  },
};

function countsOf(outcomes: readonly (string | number)[]): Record<string, number> {
  return Object.fromEntries([...Map.groupBy(outcomes, String)].map(([name, all]) => [name, all.length]));
}
