import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { Limiter } from '../../shared/keys/limiter.ts';
import type { Verdict } from '../../shared/keys/verdict.ts';
import type { KeysTable } from './keys-table.ts';

/** Requests arrive in batches, this far apart. Those of one batch are concurrent. */
const BATCH_MS = 100;

export interface Load {
  readonly keyHash: string;
  /** Unix milliseconds of the first request. */
  readonly from: number;
  readonly seconds: number;
  readonly perSecond: number;
  /** The environment that the next request goes to; without it they take turns. */
  readonly environmentOf?: (request: number) => number;
}

export interface Answer {
  /** Time of the request, Unix milliseconds. */
  readonly now: number;
  readonly verdict: Verdict;
}

/** The execution environments that Lambda would spread the requests over, each with a limiter of its own. */
export class Environments {
  readonly #limiters: Limiter[];

  constructor(client: DynamoDBDocumentClient, table: KeysTable, count: number) {
    this.#limiters = Array.from({ length: count }, () => new Limiter(client, table.name));
  }

  async admit(environment: number, keyHash: string, now: number): Promise<Answer> {
    const limiter = this.#limiters[environment % this.#limiters.length];
    if (!limiter) throw new Error('There is no environment');
    return { now, verdict: await limiter.admit(keyHash, now) };
  }

  /** One request to each environment at the same time. */
  admitEach(keyHash: string, now: number): Promise<Answer[]> {
    return Promise.all(this.#limiters.map((_, environment) => this.admit(environment, keyHash, now)));
  }

  /** Requests at a steady rate, in the order of their times. */
  async serve({ keyHash, from, seconds, perSecond, environmentOf = (request) => request }: Load): Promise<Answer[]> {
    const answers: Answer[] = [];
    const perBatch = (perSecond * BATCH_MS) / 1_000;
    for (let now = from; now < from + seconds * 1_000; now += BATCH_MS) {
      const sent = answers.length;
      const batch = Array.from({ length: perBatch }, (_, index) =>
        this.admit(environmentOf(sent + index), keyHash, now),
      );
      answers.push(...(await Promise.all(batch)));
    }
    return answers;
  }
}

/** Admitted requests by the minute that they were counted in. */
export function admittedByMinute(answers: readonly Answer[]): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const { verdict } of answers) {
    if (verdict.kind !== 'admitted') continue;
    const { currentMinute } = verdict.key;
    counts[currentMinute] = (counts[currentMinute] ?? 0) + 1;
  }
  return counts;
}

export const admittedOf = (answers: readonly Answer[]): number =>
  answers.filter(({ verdict }) => verdict.kind === 'admitted').length;
