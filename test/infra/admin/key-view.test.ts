import { describe, expect, test } from '@jest/globals';
import { keyView } from '../../../infra/admin/keys/key-view.ts';
import { dailyUsage } from '../../../infra/admin/usage.ts';
import { tokenEntry } from '../../../shared/key-registry/key-tokens.ts';
import type { KeyRecord } from '../../../shared/keys/key-record.ts';
import { NEVER } from '../../../shared/keys/verdict.ts';
import { minuteOf } from '../../../shared/keys/window.ts';
import { InProcessTarget } from '../../support/in-process-target.ts';
import { aKey } from '../../support/tables.ts';

const NOW = Date.parse('2026-11-21T12:30:45Z');
const MINUTE = minuteOf(NOW);
const MIDNIGHT = minuteOf(Date.parse('2026-11-21T00:00:00Z'));

test('A key has the tokens that work, the oldest first', () => {
  const tokens = {
    ...tokenEntry('newer', { label: 'reports', access: 'read', until: NOW + 1, pending: true }, NOW),
    ...tokenEntry('ended', { label: 'ended', until: NOW }, NOW - 1),
    ...tokenEntry('older', {}, NOW - 1_000),
  };

  expect(keyView(aKey({ tokens }), NOW).tokens).toMatchObject([
    { name: 'main/lder', label: 'main', until: null, neverShown: false },
    { label: 'reports', until: '2026-11-21T12:30:45.001Z', neverShown: true },
  ]);
});

test.each<[string, string, Partial<KeyRecord>]>([
  ['active', 'once its suspension is over', { suspendedUntil: NOW }],
  ['suspended', 'until its suspension is over', { suspendedUntil: NOW + 1 }],
  ['suspended', 'until it is resumed', { suspendedUntil: NEVER, enabled: false }],
  ['disabled', 'whatever else it is', { enabled: false, suspendedUntil: NOW + 1, expiresAtMs: NOW }],
  ['expired', 'from the very moment on', { expiresAtMs: NOW }],
])('A key is %s %s', (state, _, differences) => {
  expect(keyView(aKey(differences), NOW).state).toBe(state);
});

describe('The use of a key', () => {
  test.each<[string, Partial<KeyRecord>, number, number]>([
    ['of this minute', { currentMinute: MINUTE }, 7, 70],
    ['of another minute of today', { currentMinute: MINUTE - 1 }, 0, 70],
    ['of the last minute of yesterday', { currentMinute: MIDNIGHT - 1 }, 0, 0],
  ])('is that %s', (_, differences, usedThisMinute, usedToday) => {
    const view = keyView(aKey({ minuteUsed: 7, dayUsed: 70, ...differences }), NOW);
    expect(view).toMatchObject({ usedThisMinute, usedToday });
  });

  test('is of each UTC day, today last: what was metered, and of today what was counted', async () => {
    const world = new InProcessTarget();
    world.reset();
    const today = Date.now();
    const dayBefore = (days: number): string => new Date(today - days * 86_400_000).toISOString().slice(0, 10);
    await world.issue(aKey({ keyId: 'mine', currentMinute: minuteOf(today), dayUsed: 5 }), 'free');
    for (const ago of [0, 2, 2, 2]) world.records.countRequest(dayBefore(ago), 'free', 'mine');

    expect(await dailyUsage(world.target, 'mine', 4)).toMatchObject({
      perDay: 1_000,
      days: [0, 3, 0, 5].map((requests, index) => ({ date: dayBefore(3 - index), requests })),
    });
    expect((await dailyUsage(world.target, 'mine', 90)).days).toHaveLength(90);
    world.close();
  });
});
