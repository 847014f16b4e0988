import { marshall } from '@aws-sdk/util-dynamodb';
import { describe, expect, test } from '@jest/globals';
import { findKey, findRecord } from '../../../infra/admin/keys/find-key.ts';
import { type KeySelection, keyView, listKeys, showKey } from '../../../infra/admin/keys/key-view.ts';
import { foundTokenText } from '../../../infra/admin/keys/key-sentences.ts';
import { usageOfKey } from '../../../infra/admin/keys/usage.ts';
import { type KeyRecord, UNTIL_RESUMED } from '../../../shared/keys/key-record.ts';
import { generateToken } from '../../../shared/keys/token.ts';
import { DAY_MS, minuteOf } from '../../../shared/keys/verdict.ts';
import { aKey } from '../../support/tables.ts';
import { AdminService, NOW } from './admin-service.ts';

const { target, world } = new AdminService();

const MINUTE = minuteOf(NOW);
const MIDNIGHT = minuteOf(Date.parse('2026-11-21'));
const ENDED = { access: 'full', label: 'main', last: 'ly02', since: 0, until: NOW };

test.each<[string, Partial<KeyRecord>]>([
  ['active', { suspendedUntil: NOW }],
  ['suspended automatically until 2026-11-21 12:30 UTC', { suspendedUntil: NOW + 1 }],
  ['suspended by an admin until 2026-11-21 12:30 UTC', { suspendedUntil: NOW + 1, suspendedByAdmin: true }],
  ['suspended by an admin', { suspendedUntil: UNTIL_RESUMED, enabled: false, suspendedByAdmin: true }],
  ['disabled', { enabled: false, suspendedUntil: NOW + 1, expiresAtMs: NOW }],
  ['expired', { expiresAtMs: NOW }],
  ['no valid token', { tokens: { hash: ENDED } }],
])('A key is %s, and a found token is shown with that: %j', (state, differences) => {
  const key = keyView(aKey({ keyId: 'k', name: 'acme', ...differences }));
  const [token = null] = key.tokens;
  const rejected = state === 'active' ? '' : ` Its requests are rejected while the key is ${state}.`;

  expect(foundTokenText({ key, token })).toBe(
    `It belongs to acme (k, free, ${state})${
      token
        ? `. Its token ${token.name} is valid (full access).${rejected}`
        : ', but it is no longer valid, or was never issued.'
    }`,
  );
});

describe('The usage of a key', () => {
  test.each<[string, number, number, number]>([
    ['counts the requests of this minute and of today', MINUTE, 7, 70],
    ['is zero for this minute if the last request was earlier today', MINUTE - 1, 0, 70],
    ['is zero for today if the last request was yesterday', MIDNIGHT - 1, 0, 0],
  ])('%s', (_, currentMinute, usedThisMinute, usedToday) => {
    const view = keyView(aKey({ minuteUsed: 7, dayUsed: 70, currentMinute }));
    expect(view).toMatchObject({ usedThisMinute, usedToday });
  });

  test('per UTC day since its creation combines stored days with those in its record, even if revoked', async () => {
    const today = { currentMinute: MINUTE, dayUsed: 5, dayRefused: 1 };
    const yesterday = { priorMinute: minuteOf(NOW - DAY_MS), priorUsed: 4, priorRefused: 2 };
    await put('mine', 'mine', { ...today, ...yesterday, createdAt: NOW - 3 * DAY_MS, ...REVOKED });
    world.usage = [marshall({ recordId: 'any', day: '2026-11-19', used: 3, refused: 0 })];

    expect(await usageOfKey(target, 'mine', 90)).toMatchObject({
      perDay: 1_000,
      days: [
        { day: '2026-11-18', used: 0, refused: 0 },
        { day: '2026-11-19', used: 3, refused: 0 },
        { day: '2026-11-20', used: 4, refused: 2 },
        { day: '2026-11-21', used: 5, refused: 1 },
      ],
    });
    expect((await usageOfKey(target, 'mine', 2)).days).toHaveLength(2);
  });
});

const put = (keyId: string, name: string, state: object = {}) => target.keyTable.add(aKey({ keyId, name, ...state }));
const REVOKED = { revoked: true, enabled: false };

describe('A key is found', () => {
  test.each(['k1', 'Zoë Pets', ' zoe\u0308 pets'])('by its id, or its name in any case and form: %s', async (text) => {
    await put('k1', 'Zoë Pets');
    await put('old', 'Acme Pets', REVOKED);
    await put('k2', 'Beta');

    expect(await findKey(target, text)).toMatchObject({ keyId: 'k1' });
  });

  test.each(['k1', 'Acme'])('after its revocation only in order to show it: %s', async (text) => {
    await put('k1', 'Acme', REVOKED);

    expect(await showKey(target, text)).toMatchObject({ id: 'k1', state: 'revoked' });
    expect(await findRecord(target, text)).toMatchObject({ keyId: 'k1', revoked: true });
    await expect(findKey(target, text)).rejects.toThrow('The key k1 was revoked.');
  });

  test.each([
    ['belongs to several', 'acme', /^4 keys have the name acme\. .* id: a\d \(free, created 1970-01-01\), a\d .* …$/],
    ['belongs to none', 'Beta', 'There is no key Beta. To list all keys: npm run admin -- keys list. If'],
    ['is empty', ' ', 'There is no key without an id or name.'],
  ])('not by a name that %s; the failure says what to do', async (_, text, message) => {
    for (const id of ['a1', 'a2', 'a3', 'a4']) await put(id, 'Acme');

    await expect(findKey(target, text)).rejects.toThrow(message);
  });
});

const TOKEN = generateToken();
const days = (count: number) => ({ expiresAtMs: NOW + count * DAY_MS });

test.each<[KeySelection, string[]]>([
  [{}, ['a', 'b', 'c', 'd']],
  [{ state: 'revoked' }, ['old']],
  [{ state: 'suspended', plan: 'free' }, ['b']],
  [{ state: 'expiring' }, ['b']],
  [{ state: 'no valid token' }, ['d']],
  [{ search: 'ZOE\u0308' }, ['b']],
  [{ search: TOKEN.slice(-4) }, ['c']],
  [{ search: TOKEN.slice(-5) }, []],
])('The list of keys is filtered by %j', async (selection, ids) => {
  await put('a', 'Acme', days(15));
  await put('b', 'Beta Zo\u00eb', { ...days(13), suspendedUntil: UNTIL_RESUMED });
  await target.keyTable.add(aKey({ keyId: 'c', name: 'Cd', ...days(-1) }, TOKEN));
  await put('d', 'Dd', { tokens: {} });
  await put('old', 'Acme', { ...REVOKED, ...days(1) });

  expect((await listKeys(target, selection)).map(({ id }) => id)).toEqual(ids);
});
