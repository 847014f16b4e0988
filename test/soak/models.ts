import { violationsOfLimiter } from '../model/limiter-check.ts';
import { LimiterSchedule } from '../model/limiter-schedule.ts';
import { violationsOfUpdates } from '../model/update-check.ts';
import { UpdateSchedule } from '../model/update-schedule.ts';
import type { Tamper } from '../model/virtual-dynamodb.ts';
import { brokenLimiters, brokenUpdates } from './broken.ts';

interface Outcome {
  readonly violations: readonly string[];
  readonly counts: Readonly<Record<string, number>>;
}

export interface Model {
  /** Runs a schedule, and says what was wrong in it, and how often what happened. */
  readonly run: (seed: number, tamper?: Tamper) => Promise<Outcome>;
  readonly broken: Readonly<Record<string, Tamper>>;
}

export const models: Readonly<Record<string, Model>> = {
  limiter: {
    broken: brokenLimiters,
    run: async (seed, tamper) => {
      const history = await LimiterSchedule.run(seed, tamper);
      const outcomes = history.told.map(({ outcome }) => (outcome.kind === 'refused' ? outcome.reason : outcome.kind));
      return { violations: violationsOfLimiter(history), counts: countsOf(outcomes) };
    },
  },
  updates: {
    broken: brokenUpdates,
    run: async (seed, tamper) => {
      const history = await UpdateSchedule.run(seed, tamper);
      const outcomes = history.told.map(({ outcome }) =>
        outcome.kind === 'refused' ? String(outcome.status) : outcome.kind,
      );
      return { violations: violationsOfUpdates(history), counts: countsOf(outcomes) };
    },
  },
};

function countsOf(names: readonly string[]): Record<string, number> {
  return Object.fromEntries([...Map.groupBy(names, (name) => name)].map(([name, all]) => [name, all.length]));
}
