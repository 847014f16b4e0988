import { beforeAll, expect, test } from '@jest/globals';
import { Limiter } from '../../../shared/keys/limiter.ts';
import type { Verdict } from '../../../shared/keys/verdict.ts';
import { describeOnEachEngine } from '../../support/engines.ts';
import { KeysTable } from '../../support/keys-table.ts';
import { patientClient } from '../../support/patient-client.ts';

const NOW = Date.UTC(2025, 5, 15, 12, 34, 30);
const MINUTE = Math.floor(NOW / 60_000);
const YESTERDAY = MINUTE - 1_440;
const ENVIRONMENTS = 6;

const counters = (verdicts: readonly Verdict[], name: 'minuteUsed' | 'dayUsed') =>
  verdicts.flatMap((verdict) => (verdict.kind === 'denied' ? [] : verdict.key[name])).toSorted((a, b) => a - b);

const from = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, index) => first + index);

describeOnEachEngine('Concurrent requests', () => {
  let table: KeysTable;
  /** One for each of the execution environments that Lambda would spread the requests over. */
  let limiters: Limiter[];

  beforeAll(async () => {
    table = await KeysTable.create(patientClient());
    limiters = Array.from({ length: ENVIRONMENTS }, () => new Limiter(patientClient(), table.name));
  });

  async function admittedOf(count: number, keyHash: string, timeOf = (_index: number) => NOW): Promise<Verdict[]> {
    const share = count / ENVIRONMENTS;
    const verdicts = await Promise.all(
      limiters.flatMap((limiter, environment) =>
        Array.from({ length: share }, (_, index) => limiter.admit(keyHash, timeOf(environment * share + index))),
      ),
    );
    return verdicts.filter(({ kind }) => kind === 'admitted');
  }

  test('300 on a key that was never used are admitted 60 times, each with a counter value of its own', async () => {
    const { keyHash } = await table.issue({ perMinute: 60 });
    const admitted = await admittedOf(300, keyHash);

    expect(counters(admitted, 'minuteUsed')).toEqual(from(1, 60));
    expect(counters(admitted, 'dayUsed')).toEqual(from(1, 60));
  });

  test('60 are all admitted where there is room for exactly as many', async () => {
    const key = await table.issue({ perMinute: 60 });
    const admitted = await admittedOf(60, key.keyHash);

    expect(counters(admitted, 'minuteUsed')).toEqual(from(1, 60));
    expect(await table.read(key)).toMatchObject({ minuteUsed: 60, dayUsed: 60, minuteRefused: 0 });
  });

  test('60 are admitted as often as the day has room, where the minute has more', async () => {
    const { keyHash } = await table.issue({ perMinute: 40, perDay: 100, currentMinute: MINUTE - 1, dayUsed: 75 });

    expect(counters(await admittedOf(60, keyHash), 'dayUsed')).toEqual(from(76, 100));
  });

  test('60 that roll a full minute over are admitted as often as the new one has room', async () => {
    const { keyHash } = await table.issue({ perMinute: 20, currentMinute: MINUTE - 1, minuteUsed: 20, dayUsed: 200 });
    const admitted = await admittedOf(60, keyHash);

    expect(counters(admitted, 'minuteUsed')).toEqual(from(1, 20));
    expect(counters(admitted, 'dayUsed')).toEqual(from(201, 220));
  });

  test('60 that roll over a day that is used up are admitted as often as the new one has room', async () => {
    const { keyHash } = await table.issue({ perMinute: 40, perDay: 25, currentMinute: YESTERDAY, dayUsed: 25 });

    expect(counters(await admittedOf(60, keyHash), 'dayUsed')).toEqual(from(1, 25));
  });

  test('60 of two minutes, in any order, never exceed the limit of either', async () => {
    const { keyHash } = await table.issue({ perMinute: 30 });
    const admitted = await admittedOf(60, keyHash, (index) => NOW + (index % 2) * 60_000);
    const ofMinute = (minute: number) =>
      admitted.filter((verdict) => verdict.kind === 'admitted' && verdict.key.currentMinute === minute);

    expect(counters(ofMinute(MINUTE + 1), 'minuteUsed')).toEqual(from(1, 30));
    expect(counters(ofMinute(MINUTE), 'minuteUsed')).toEqual(from(1, ofMinute(MINUTE).length));
    expect(ofMinute(MINUTE).length).toBeLessThanOrEqual(30);
  });
});
