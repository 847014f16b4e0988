import { beforeAll, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { Limiter } from '../../../shared/keys/limiter.ts';
import type { Limits } from '../../../shared/keys/plans.ts';
import type { Verdict } from '../../../shared/keys/verdict.ts';
import { describeOnEachEngine } from '../../support/engines.ts';
import { KeysTable } from '../../support/keys-table.ts';
import { patientClient } from '../../support/patient-client.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** Three minutes before a day ends, so that sequences cross it. */
const START = Date.UTC(2025, 5, 15, 23, 57);

const someLimits = fc.record({ perMinute: fc.integer({ min: 1, max: 4 }), perDay: fc.integer({ min: 1, max: 12 }) });

/** Milliseconds from one request to the next; negative: it was sent earlier and arrives later. */
const aPause = fc.oneof(
  { weight: 6, arbitrary: fc.nat({ max: 15_000 }) },
  { weight: 2, arbitrary: fc.constantFrom(0, 1, MINUTE_MS, 5 * MINUTE_MS) },
  { weight: 1, arbitrary: fc.integer({ min: -90_000, max: 0 }) },
  { weight: 1, arbitrary: fc.constant(DAY_MS) },
);

const upTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1);

describeOnEachEngine('The limiter, on any sequence of requests', () => {
  let table: KeysTable;
  let limiter: Limiter;

  beforeAll(async () => {
    const client = patientClient();
    table = await KeysTable.create(client);
    limiter = new Limiter(client, table.name);
  });

  test('does to each what the rules say', async () => {
    const pauses = fc.array(aPause, { minLength: 1, maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(someLimits, pauses, async (limits, sequence) => {
        const { keyHash } = await table.issue(limits);
        const rules = new Rules(limits);
        let now = START;
        for (const pause of sequence) {
          now += pause;
          expect(outcomeOf(await limiter.admit(keyHash, now))).toBe(rules.outcomeOf(now));
        }
      }),
      { numRuns: 20 },
    );
  });

  test('admits no more than the limits, each with a counter value of its own, however they overlap', async () => {
    const batches = fc.array(fc.array(fc.nat({ max: 4 * MINUTE_MS }), { minLength: 1, maxLength: 12 }), {
      minLength: 1,
      maxLength: 3,
    });
    await fc.assert(
      fc.asyncProperty(someLimits, batches, async ({ perMinute, perDay }, sequence) => {
        const { keyHash } = await table.issue({ perMinute, perDay });
        const admitted: Verdict[] = [];
        for (const batch of sequence) {
          const verdicts = await Promise.all(batch.map((offset) => limiter.admit(keyHash, START + offset)));
          admitted.push(...verdicts.filter(({ kind }) => kind === 'admitted'));
        }
        const minutes = countersByWindow(admitted, 'minuteUsed', 1);
        const days = countersByWindow(admitted, 'dayUsed', DAY_MS / MINUTE_MS);

        expect(minutes).toEqual(minutes.map((counters) => upTo(Math.min(counters.length, perMinute))));
        expect(days).toEqual(days.map((counters) => upTo(Math.min(counters.length, perDay))));
      }),
      { numRuns: 15 },
    );
  });
});

/** The counter values that admitted requests got, ascending, window by window. */
function countersByWindow(
  verdicts: readonly Verdict[],
  counter: 'minuteUsed' | 'dayUsed',
  windowMinutes: number,
): number[][] {
  const keys = verdicts.flatMap((verdict) => (verdict.kind === 'denied' ? [] : verdict.key));
  const windows = Map.groupBy(keys, ({ currentMinute }) => Math.floor(currentMinute / windowMinutes));
  return [...windows.values()].map((values) => values.map((key) => key[counter]).toSorted((a, b) => a - b));
}

function outcomeOf(verdict: Verdict): string {
  if (verdict.kind !== 'admitted') return verdict.kind === 'refused' ? verdict.reason : verdict.kind;
  const { limit, remaining, resetsAt } = verdict.rateLimit;
  return `admitted, ${remaining} of ${limit} left until ${resetsAt}`;
}

/** The rules of the spec (§7, §8) and its filled gaps, written down once more in the plainest way. */
class Rules {
  readonly #limits: Limits;
  #minute = 0;
  readonly #admitted = new Map<string, number>();
  readonly #refused = new Map<number, number>();
  #suspendedUntil = 0;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  outcomeOf(now: number): string {
    if (now < this.#suspendedUntil) return 'suspended';
    this.#minute = Math.max(this.#minute, Math.floor(now / MINUTE_MS));
    const time = this.#minute * MINUTE_MS;
    const minute = new Date(time).toISOString();
    const day = minute.slice(0, 10);
    const leftOfMinute = this.#limits.perMinute - (this.#admitted.get(minute) ?? 0);
    const leftOfDay = this.#limits.perDay - (this.#admitted.get(day) ?? 0);
    if (leftOfMinute === 0 || leftOfDay === 0) return this.#refuse(now, leftOfDay === 0 ? 'day' : 'minute');

    this.#admitted.set(minute, (this.#admitted.get(minute) ?? 0) + 1);
    this.#admitted.set(day, (this.#admitted.get(day) ?? 0) + 1);
    return leftOfDay <= leftOfMinute
      ? `admitted, ${leftOfDay - 1} of ${this.#limits.perDay} left until ${Date.parse(day) + DAY_MS}`
      : `admitted, ${leftOfMinute - 1} of ${this.#limits.perMinute} left until ${time + MINUTE_MS}`;
  }

  #refuse(now: number, reason: string): string {
    const refused = (this.#refused.get(this.#minute) ?? 0) + 1;
    this.#refused.set(this.#minute, refused);
    if (refused < this.#limits.perMinute) return reason;
    this.#suspendedUntil = now + 5 * MINUTE_MS;
    return 'suspended';
  }
}
