import { expect, test } from '@jest/globals';
import { keyView } from '../../../infra/admin/keys/key-view.ts';
import { closest, dailyUsage } from '../../../infra/admin/usage.ts';
import { minuteOf } from '../../../shared/keys/window.ts';
import { InProcessTarget } from '../../support/in-process-target.ts';
import { aKey } from '../../support/tables.ts';

test('The requests of a key are of each UTC day, today last: what was metered, and of today what was counted', async () => {
  const world = new InProcessTarget();
  world.reset();
  const today = Date.now();
  const dayBefore = (days: number): string => new Date(today - days * 86_400_000).toISOString().slice(0, 10);
  await world.issue(aKey({ keyId: 'mine', currentMinute: minuteOf(today), dayUsed: 5 }), 'free');
  for (const ago of [0, 2, 2, 2]) world.records.countRequest(dayBefore(ago), 'free', 'mine');

  expect(await dailyUsage(world.target, 'mine', 4)).toEqual({
    id: 'mine',
    name: 'acme',
    plan: 'free',
    perDay: 1_000,
    days: [0, 3, 0, 5].map((requests, index) => ({ date: dayBefore(3 - index), requests })),
  });
  expect((await dailyUsage(world.target, 'mine', 90)).days).toHaveLength(90);
  world.close();
});

test('The keys that are closest to their limits are those that were used today, by the limit with the least left', () => {
  const minute = minuteOf(Date.parse('2026-11-21T12:30:45Z'));
  const view = (keyId: string, minuteUsed: number, dayUsed: number, currentMinute = minute) =>
    keyView(aKey({ keyId, perMinute: 100, perDay: 1_000, currentMinute, minuteUsed, dayUsed }), minute * 60_000);
  const views = [
    view('minute', 50, 50),
    view('day', 1, 800),
    view('over', 150, 150),
    view('yesterday', 99, 999, minute - 1_440),
    view('earlier today', 99, 100, minute - 60),
  ];

  expect(closest(views)).toMatchObject([
    { id: 'over', plan: 'free', usedThisMinute: 150, used: 1.5 },
    { id: 'day', used: 0.8 },
    { id: 'minute', used: 0.5 },
    { id: 'earlier today', usedThisMinute: 0, used: 0.1 },
  ]);
});
