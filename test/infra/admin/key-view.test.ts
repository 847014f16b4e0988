import { describe, expect, test } from '@jest/globals';
import { keyView } from '../../../infra/admin/keys/key-view.ts';
import { tokenEntry } from '../../../shared/key-registry/key-tokens.ts';
import type { KeyRecord } from '../../../shared/keys/key-record.ts';
import { NEVER } from '../../../shared/keys/working-token.ts';
import { minuteOf } from '../../../shared/keys/window.ts';
import { aKey } from '../../support/tables.ts';

const NOW = Date.parse('2026-11-21T12:30:45Z');
const MINUTE = minuteOf(NOW);
const MIDNIGHT = minuteOf(Date.parse('2026-11-21T00:00:00Z'));

test('lists the tokens that work, the oldest first', () => {
  const tokens = {
    ...tokenEntry('newer', { label: 'reports', access: 'read', until: NOW + 1, pending: true }, NOW),
    ...tokenEntry('ended', { label: 'ended', until: NOW }, NOW - 1),
    ...tokenEntry('older', {}, NOW - 1_000),
  };

  expect(keyView(aKey({ tokens }), NOW).tokens).toMatchObject([
    { label: 'main', until: null, neverShown: false },
    { label: 'reports', until: '2026-11-21T12:30:45.001Z', neverShown: true },
  ]);
});

describe('a key is', () => {
  const soon = NOW + 1;

  test.each<[string, string, Partial<KeyRecord>]>([
    ['active', 'as it is issued', {}],
    ['active', 'once its suspension is over', { suspendedUntil: NOW }],
    ['suspended', 'until its suspension is over', { suspendedUntil: soon }],
    ['suspended', 'until it is resumed', { suspendedUntil: NEVER, enabled: false }],
    ['disabled', 'whatever else it is', { enabled: false, suspendedUntil: soon, expiresAt: NOW }],
    ['expired', 'from the very moment on', { expiresAt: NOW }],
    ['active', 'until then', { expiresAt: soon }],
  ])('%s %s', (state, _, differences) => {
    expect(keyView(aKey(differences), NOW).state).toBe(state);
  });
});

describe('its use', () => {
  const used = { minuteUsed: 7, dayUsed: 70 };

  test.each<[string, Partial<KeyRecord>, number, number]>([
    ['of this minute', { currentMinute: MINUTE }, 7, 70],
    ['of another minute of today', { currentMinute: MINUTE - 1 }, 0, 70],
    ['of the last minute of yesterday', { currentMinute: MIDNIGHT - 1 }, 0, 0],
  ])('%s', (_, differences, usedThisMinute, usedToday) => {
    expect(keyView(aKey({ ...used, ...differences }), NOW)).toMatchObject({ usedThisMinute, usedToday });
  });

  test('was last seen in the minute that it counts for', () => {
    expect(keyView(aKey({ currentMinute: MINUTE - 1_440 }), NOW).lastUsed).toBe('2026-11-20T12:30:00.000Z');
  });
});
