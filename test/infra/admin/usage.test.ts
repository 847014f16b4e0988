import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { keyView } from '../../../infra/admin/keys/key-view.ts';
import { closest, dailyUsage } from '../../../infra/admin/usage.ts';
import { minuteOf } from '../../../shared/keys/window.ts';
import { InProcessTarget } from '../../support/in-process-target.ts';
import { aKey } from '../../support/tables.ts';

describe('the requests of a key by day', () => {
  const world = new InProcessTarget();
  const today = Date.now();
  const dayBefore = (days: number): string => new Date(today - days * 86_400_000).toISOString().slice(0, 10);
  afterAll(() => world.close());
  beforeEach(() => world.reset());

  /** Issues a key, and has API Gateway meter requests on its plan: so many on each of the last days. */
  async function used(keyId: string, plan: string, counts: readonly number[], differences = {}): Promise<void> {
    const key = aKey({ keyId, currentMinute: minuteOf(Date.now()), dayUsed: 5, ...differences });
    await world.issue(key, plan);
    counts.forEach((count, ago) => {
      for (let request = 0; request < count; request++) world.records.countRequest(dayBefore(ago), plan, keyId);
    });
  }

  const requestsOf = async (id: string, days: number) =>
    (await dailyUsage(world.target, id, days)).days.map(({ requests }) => requests);

  test('are of each UTC day, today last: what was metered, and of today what was counted', async () => {
    await used('mine', 'free', [1, 0, 3]);

    expect(await dailyUsage(world.target, 'mine', 4)).toEqual({
      id: 'mine',
      name: 'acme',
      plan: 'free',
      perDay: 1_000,
      days: [0, 3, 0, 5].map((requests, index) => ({ date: dayBefore(3 - index), requests })),
    });
    expect(await requestsOf('mine', 1)).toEqual([5]);
    expect(await requestsOf('mine', 90)).toHaveLength(90);
  });
});

describe('the keys that are closest to their limits', () => {
  const minute = minuteOf(Date.parse('2026-11-21T12:30:45Z'));
  const now = minute * 60_000;
  const view = (keyId: string, minuteUsed: number, dayUsed: number, differences = {}) =>
    keyView(
      aKey({ keyId, perMinute: 100, perDay: 1_000, currentMinute: minute, minuteUsed, dayUsed, ...differences }),
      now,
    );

  test('are in order of the limit that has the least left', () => {
    const views = [view('minute', 50, 50), view('day', 1, 800), view('little', 1, 1), view('over', 150, 150)];

    expect(closest(views)).toMatchObject([
      { id: 'over', plan: 'free', usedThisMinute: 150, used: 1.5 },
      { id: 'day', used: 0.8 },
      { id: 'minute', used: 0.5 },
      { id: 'little', used: 0.01 },
    ]);
  });

  test('are those that were used today', () => {
    const views = [
      view('yesterday', 99, 999, { currentMinute: minute - 1_440 }),
      view('earlier today', 99, 100, { currentMinute: minute - 60 }),
    ];

    expect(closest(views)).toMatchObject([{ id: 'earlier today', usedThisMinute: 0, used: 0.1 }]);
  });
});
