import { beforeAll, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { isConnectionGone } from '../../../shared/dynamodb.ts';
import type { KeyRecord } from '../../../shared/keys/key-record.ts';
import { Limiter } from '../../../shared/keys/limiter.ts';
import { describeOnEachEngine } from '../../support/engines.ts';
import { KeysTable } from '../../support/keys-table.ts';
import { LossyClient } from '../../support/lossy-client.ts';
import { patientClient } from '../../support/patient-client.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** Ten seconds before a minute ends and two minutes before a day does, so that sequences cross both. */
const START = Date.UTC(2025, 5, 15, 23, 57, 50);
const MINUTE = Math.floor(START / MINUTE_MS);
const ENVIRONMENTS = 3;
/** Requests to each environment that use up any of the limits together. */
const ENOUGH = 550;

/** A key some of whose minute and day are used. */
const someUse = fc
  .record({
    perMinute: fc.integer({ min: 1_001, max: 1_500 }),
    perDay: fc.integer({ min: 300, max: 3_000 }),
    leftOfMinute: fc.integer({ min: 0, max: 200 }),
    leftOfDay: fc.integer({ min: 0, max: 3_000 }),
  })
  .map(({ perMinute, perDay, leftOfMinute, leftOfDay }) => ({
    perMinute,
    perDay,
    currentMinute: MINUTE,
    minuteUsed: perMinute - leftOfMinute,
    dayUsed: Math.max(0, perDay - leftOfDay),
  }));

/** Milliseconds from one step to the next; negative: a step of earlier requests, which arrive later. */
const aPause = fc.oneof(
  { weight: 6, arbitrary: fc.nat({ max: 1_500 }) },
  { weight: 2, arbitrary: fc.constantFrom(0, 10_000, MINUTE_MS, 5 * MINUTE_MS) },
  { weight: 2, arbitrary: fc.integer({ min: -90_000, max: 0 }) },
  { weight: 1, arbitrary: fc.constant(DAY_MS) },
);

/** Requests one after the other in one environment, while those of others are under way, there too. */
const aSeries = fc.record({
  environment: fc.nat({ max: ENVIRONMENTS - 1 }),
  /** Whether they come with the key itself or with one that was rotated to it. */
  key: fc.constantFrom(0, 1),
  length: fc.oneof(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 60 })),
  apart: fc.constantFrom(0, 1, 7),
});

const steps = fc.array(fc.record({ pause: aPause, series: fc.array(aSeries, { minLength: 1, maxLength: 4 }) }), {
  minLength: 3,
  maxLength: 8,
});

type Step = typeof steps extends fc.Arbitrary<readonly (infer Element)[]> ? Element : never;

describeOnEachEngine('A leased key, on any requests to any environments', () => {
  let table: KeysTable;
  let lossy: LossyClient;

  beforeAll(async () => {
    table = await KeysTable.create(patientClient());
    lossy = new LossyClient();
  });

  /** The minutes in which requests were admitted: those of all steps, each with one of two keys. */
  async function admittedMinutes(keys: readonly [KeyRecord, KeyRecord], sequence: readonly Step[]): Promise<number[]> {
    const limiters = Array.from({ length: ENVIRONMENTS }, () => new Limiter(lossy.client, table.name));
    const minutes: number[] = [];
    const send = async (at: number, { environment, key, length, apart }: Step['series'][number]) => {
      const { keyHash } = keys[key];
      for (let request = 0; request < length; request++) {
        const verdict = await limiters[environment]?.admit(keyHash, at + request * apart).catch(unlessConnectionGone);
        if (verdict?.kind === 'admitted') minutes.push(verdict.key.currentMinute);
      }
    };
    let now = START;
    let latest = START;
    for (const { pause, series } of sequence) {
      now += pause;
      latest = Math.max(latest, now);
      await Promise.all(series.map((one) => send(now, one)));
    }
    // What was admitted too easily shows only where the window is used to the last.
    const usedToTheLast = { key: 0, length: ENOUGH, apart: 1 } as const;
    await Promise.all(limiters.map((_, environment) => send(latest, { ...usedToTheLast, environment })));
    return minutes;
  }

  test.each([
    ['the limits', Infinity],
    ['the limits, where the answer to every seventh write is lost', 7],
  ])('admits no more than %s', async (_, nth) => {
    await fc.assert(
      fc.asyncProperty(someUse, steps, async (use, sequence) => {
        const home = await table.issue(use);
        const old = await table.issue({ ...use, minuteUsed: 0, dayUsed: 0, replacedBy: home.keyHash });
        lossy.lose((write) => write % nth === 0);
        const minutes = await admittedMinutes([home, old], sequence);

        expect(exceeded(minutes, 1, use.perMinute, use.minuteUsed)).toEqual([]);
        expect(exceeded(minutes, DAY_MS / MINUTE_MS, use.perDay, use.dayUsed)).toEqual([]);
      }),
      { numRuns: 12, interruptAfterTimeLimit: 8_000 },
    );
  });
});

/** The windows of so many minutes in which more were admitted than the limit; the first had some used before. */
function exceeded(minutes: readonly number[], windowMinutes: number, limit: number, usedBefore: number): string[] {
  const windowOf = (minute: number) => Math.floor(minute / windowMinutes);
  const windows = Map.groupBy(minutes, windowOf);
  return [...windows].flatMap(([window, { length }]) => {
    const used = length + (window === windowOf(MINUTE) ? usedBefore : 0);
    return used > limit ? [`${used} of ${limit}`] : [];
  });
}

function unlessConnectionGone(error: unknown): undefined {
  if (!isConnectionGone(error)) throw error;
}
