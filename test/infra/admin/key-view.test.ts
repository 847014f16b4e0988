import { describe, expect, test } from '@jest/globals';
import { keyView } from '../../../infra/admin/keys/key-view.ts';
import { tokenEntry } from '../../../shared/key-registry/key-tokens.ts';
import type { KeyRecord } from '../../../shared/keys/key-record.ts';
import { NEVER } from '../../../shared/keys/working-token.ts';
import { generateToken } from '../../../shared/keys/token.ts';
import { minuteOf } from '../../../shared/keys/window.ts';
import { expectNoSecrets } from '../../support/secrets.ts';
import { aKey } from '../../support/tables.ts';

const NOW = Date.parse('2026-11-21T12:30:45Z');
const MINUTE = minuteOf(NOW);
const MIDNIGHT = minuteOf(Date.parse('2026-11-21T00:00:00Z'));

test('says who a key is, which tokens of it work, and nothing that one could be rebuilt from', () => {
  const [main, reports, ended] = [generateToken(), generateToken(), generateToken()];
  const key = aKey({
    keyId: 'abc',
    name: 'acme',
    plan: 'pro',
    perMinute: 300,
    perDay: 10_000,
    createdAt: NOW - 1_000,
    tokens: {
      ...tokenEntry(reports, { label: 'reports', access: 'read', until: NOW + 1_000, pending: true }, NOW),
      ...tokenEntry(ended, { label: 'ended', until: NOW }, NOW - 1),
      ...tokenEntry(main, {}, NOW - 1_000),
    },
  });
  const view = keyView(key, NOW);

  expect(view).toEqual({
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
    tokens: [
      {
        label: 'main',
        last: main.slice(-4),
        access: 'full',
        since: '2026-11-21T12:30:44.000Z',
        until: null,
        neverShown: false,
      },
      {
        label: 'reports',
        last: reports.slice(-4),
        access: 'read',
        since: '2026-11-21T12:30:45.000Z',
        until: '2026-11-21T12:30:46.000Z',
        neverShown: true,
      },
    ],
  });
  expectNoSecrets(JSON.stringify(view), [main, reports, ended]);
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
