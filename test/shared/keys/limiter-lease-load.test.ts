import { beforeAll, describe, expect, test } from '@jest/globals';
import { LEASE_MS } from '../../../shared/keys/lease.ts';
import { describeOnEachEngine } from '../../support/engines.ts';
import { admittedByMinute, admittedOf, type Answer, Environments } from '../../support/environments.ts';
import { KeysTable } from '../../support/keys-table.ts';
import { patientClient } from '../../support/patient-client.ts';

const START = Date.UTC(2025, 5, 15, 12, 34);
const MINUTE = Math.floor(START / 60_000);
const ENVIRONMENTS = 8;
const PER_MINUTE = 3_000;
/** A fifth over the limit: 600 requests a minute are refused, which is not enough to be suspended. */
const PER_SECOND = 60;
const USABLE = 0.95;

/** Four of five go to the first environment, and from half a minute on some of the others are silent. */
const uneven = (request: number): number => {
  if (request % 5 > 0) return 0;
  return 1 + (Math.floor(request / 5) % (request < 30 * PER_SECOND ? ENVIRONMENTS - 1 : 3));
};

describeOnEachEngine('Environments that share a leased key', () => {
  let table: KeysTable;
  let environments: Environments;

  beforeAll(async () => {
    const client = patientClient();
    table = await KeysTable.create(client);
    environments = new Environments(client, table, ENVIRONMENTS);
  });

  describe('under steady load a fifth over its limit, for two minutes,', () => {
    let answers: Answer[];

    beforeAll(async () => {
      const { keyHash } = await table.issue({ perMinute: PER_MINUTE, perDay: 1_000_000 });
      answers = await environments.serve({ keyHash, from: START, seconds: 120, perSecond: PER_SECOND });
    });

    test('admit no more than the limit of either minute, and at least 95 % of it', () => {
      const { [MINUTE]: first = 0, [MINUTE + 1]: second = 0, ...others } = admittedByMinute(answers);

      expect(Math.max(first, second)).toBeLessThanOrEqual(PER_MINUTE);
      expect(Math.min(first, second)).toBeGreaterThanOrEqual(USABLE * PER_MINUTE);
      expect(others).toEqual({});
    });

    test('promise no request more than was left when the oldest lease began, and never less than none', () => {
      expect(brokenPromises(answers)).toEqual([]);
    });

    test('refuse for the minute, until it ends', () => {
      const refusals = new Set(
        answers.flatMap(({ verdict }) =>
          verdict.kind === 'refused' ? `${verdict.reason} until ${verdict.rateLimit.resetsAt}` : [],
        ),
      );

      expect([...refusals]).toEqual([`minute until ${START + 60_000}`, `minute until ${START + 120_000}`]);
    });
  });

  test('admit no more than the limit of a day that ends in the middle, and at least 95 % of it', async () => {
    const perDay = PER_MINUTE / 2;
    const key = await table.issue({ perMinute: PER_MINUTE, perDay });
    const answers = await environments.serve({ ...key, from: START, seconds: 60, perSecond: PER_SECOND });

    expect(admittedOf(answers)).toBeLessThanOrEqual(perDay);
    expect(admittedOf(answers)).toBeGreaterThanOrEqual(USABLE * perDay);
    expect(answers.at(-1)).toMatchObject({ verdict: { kind: 'refused', reason: 'day' } });
  });

  test('admit no more than the limit under uneven load, and at least 95 % of it', async () => {
    const key = await table.issue({ perMinute: PER_MINUTE, perDay: 1_000_000 });
    const load = { ...key, from: START, seconds: 60, perSecond: PER_SECOND, environmentOf: uneven };
    const admitted = admittedOf(await environments.serve(load));

    expect(admitted).toBeLessThanOrEqual(PER_MINUTE);
    expect(admitted).toBeGreaterThanOrEqual(USABLE * PER_MINUTE);
  });

  describe('follow a limit that is changed within the minute:', () => {
    const CHANGE = START + 30_000;

    /** The requests of five seconds before a change of the limit and of ten seconds after it. */
    async function answersAround(perMinute: number, minuteUsed: number, changed: number) {
      const key = await table.issue({ perMinute, perDay: 1_000_000, currentMinute: MINUTE, minuteUsed });
      const load = { ...key, perSecond: PER_SECOND };
      const before = await environments.serve({ ...load, from: CHANGE - 5_000, seconds: 5 });
      await table.setLimits(key, changed, 1_000_000);
      const after = await environments.serve({ ...load, from: CHANGE, seconds: 10 });
      return { admitted: admittedOf([...before, ...after]), after };
    }

    test.each([
      ['lowered', 6_000, 3_000, 3_600],
      ['lowered to one that is not leased', 6_000, 100, 700],
      ['raised', 4_000, 3_800, 4_400],
      ['raised from one that is not leased', 1_000, 900, 1_500],
    ])('%s, it is not exceeded, and 95 %% of the rest are usable', async (_, perMinute, minuteUsed, changed) => {
      const { admitted } = await answersAround(perMinute, minuteUsed, changed);

      expect(admitted).toBeLessThanOrEqual(changed - minuteUsed);
      expect(admitted).toBeGreaterThanOrEqual(USABLE * (changed - minuteUsed));
    });

    test('lowered below what is used, it ends what is left of the leases with their time', async () => {
      const { after } = await answersAround(6_000, 4_500, 4_600);

      expect(admittedOf(after.filter(({ now }) => now >= CHANGE + LEASE_MS))).toBe(0);
    });

    test('raised after it was used up, it makes room within the time of a lease', async () => {
      const { after } = await answersAround(4_000, 3_800, 6_000);

      expect(after.find(({ now }) => now >= CHANGE + LEASE_MS)).toMatchObject({
        verdict: { kind: 'admitted', rateLimit: { limit: 6_000 } },
      });
    });
  });
});

/** The answers that say that more is left than could be, or less than nothing. */
function brokenPromises(answers: readonly Answer[]): Answer[] {
  const known = { next: 0, admitted: new Map<number, number>() };
  return answers.filter(({ now, verdict }) => {
    for (let old = answers[known.next]; old && old.now <= now - LEASE_MS; old = answers[++known.next]) {
      if (old.verdict.kind !== 'admitted') continue;
      const { currentMinute } = old.verdict.key;
      known.admitted.set(currentMinute, 1 + (known.admitted.get(currentMinute) ?? 0));
    }
    if (verdict.kind === 'denied') return true;
    const { limit, remaining } = verdict.rateLimit;
    const left = PER_MINUTE - (known.admitted.get(verdict.key.currentMinute) ?? 0);
    return limit !== PER_MINUTE || remaining < 0 || remaining > left;
  });
}
