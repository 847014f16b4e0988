import { describe, expect, test } from '@jest/globals';
import { keyView } from '../../../infra/admin/keys/key-view.ts';
import type { KeyRecord } from '../../../shared/keys/key-record.ts';
import { UNTIL_RESUMED } from '../../../shared/keys/verdict.ts';
import { minuteOf } from '../../../shared/keys/window.ts';
import { aKey } from '../../support/tables.ts';

const NOW = Date.parse('2026-11-21T12:30:45Z');
const MINUTE = minuteOf(NOW);
const MIDNIGHT = minuteOf(Date.parse('2026-11-21T00:00:00Z'));

test('tells who a key is, and nothing that it could be rebuilt from', () => {
  const key = aKey({ keyId: 'abc', name: 'acme', plan: 'pro', perMinute: 300, perDay: 10_000, createdAt: NOW - 1_000 });

  expect(keyView(key, NOW)).toEqual({
    id: 'abc',
    name: 'acme',
    plan: 'pro',
    perMinute: 300,
    perDay: 10_000,
    state: 'active',
    created: '2026-11-21T12:30:44.000Z',
    lastUsed: null,
    usedThisMinute: 0,
    usedToday: 0,
    expires: null,
    suspendedUntil: null,
  });
  expect(JSON.stringify(keyView({ ...key, replacedBy: aKey().keyHash }, NOW))).not.toMatch(/[0-9a-f]{64}/);
});

describe('a key is', () => {
  const soon = NOW + 1;
  const rotated = { replacedBy: aKey().keyHash };

  test.each<[string, string, Partial<KeyRecord>]>([
    ['active', 'as it is issued', {}],
    ['active', 'once its suspension is over', { suspendedUntil: NOW }],
    ['suspended', 'until its suspension is over', { suspendedUntil: soon }],
    ['suspended', 'until it is resumed', { suspendedUntil: UNTIL_RESUMED, enabled: false }],
    ['disabled', 'whatever else it is', { enabled: false, suspendedUntil: soon, expiresAt: NOW, ...rotated }],
    ['expired', 'from the very moment on', { expiresAt: NOW }],
    ['expired', 'once the grace after a rotation is over', { expiresAt: NOW, ...rotated }],
    ['rotated', 'during the grace', { expiresAt: soon, ...rotated }],
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
    ['that went over to the key that replaced it', { currentMinute: MINUTE, replacedBy: aKey().keyHash }, 0, 0],
  ])('%s', (_, differences, usedThisMinute, usedToday) => {
    expect(keyView(aKey({ ...used, ...differences }), NOW)).toMatchObject({ usedThisMinute, usedToday });
  });

  test('was last seen in the minute that it counts for', () => {
    expect(keyView(aKey({ currentMinute: MINUTE - 1_440 }), NOW).lastUsed).toBe('2026-11-20T12:30:00.000Z');
  });
});
