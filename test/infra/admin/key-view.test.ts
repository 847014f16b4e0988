import { marshall } from '@aws-sdk/util-dynamodb';
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { findKey, findRecord } from '../../../infra/admin/keys/find-key.ts';
import { type KeySelection, keyView, listKeys, showKey } from '../../../infra/admin/keys/key-view.ts';
import { foundTokenText } from '../../../infra/admin/keys/key-sentences.ts';
import { usageOfKey } from '../../../infra/admin/keys/usage.ts';
import { type KeyRecord, UNTIL_RESUMED } from '../../../shared/keys/key-record.ts';
import { generateToken } from '../../../shared/keys/token.ts';
import { DAY_MS, isoDay, minuteOf } from '../../../shared/keys/verdict.ts';
import { InProcessTarget } from '../../support/in-process-target.ts';
import { aKey } from '../../support/tables.ts';

const world = new InProcessTarget();
const { target } = world;

beforeEach(() => world.reset());
afterAll(() => world.close());

const NOW = Date.parse('2026-11-21T12:30:45Z');
const MINUTE = minuteOf(NOW);
const MIDNIGHT = minuteOf(Date.parse('2026-11-21T00:00:00Z'));

const ENDED = { access: 'full', label: 'main', last: 'ly02', since: 0 };

test.each<[string, string, Partial<KeyRecord>]>([
  ['active', 'once its suspension is over', { suspendedUntil: NOW }],
  ['suspended', 'until its suspension is over', { suspendedUntil: NOW + 1 }],
  ['suspended', 'until it is resumed', { suspendedUntil: UNTIL_RESUMED, enabled: false }],
  ['disabled', 'whatever else it is', { enabled: false, suspendedUntil: NOW + 1, expiresAtMs: NOW }],
  ['expired', 'from that moment on', { expiresAtMs: NOW }],
  ['no valid token', 'once the last one has ended', { tokens: { hash: { ...ENDED, until: NOW } } }],
])('the state of a key is %s %s', (state, _, differences) => {
  expect(keyView(aKey(differences), NOW).state).toBe(state);
});

const BY_ADMIN = { suspendedByAdmin: true };

test.each<[string, Partial<KeyRecord>]>([
  ['active', {}],
  ['suspended automatically until 2026-11-21 12:35 UTC', { suspendedUntil: NOW + 300_000 }],
  ['suspended by an admin until 2026-11-21 12:35 UTC', { suspendedUntil: NOW + 300_000, ...BY_ADMIN }],
  ['suspended by an admin', { suspendedUntil: UNTIL_RESUMED, enabled: false, ...BY_ADMIN }],
  ['disabled', { enabled: false }],
  ['expired', { expiresAtMs: NOW }],
])('the sentence about a token has the state of its key, and who suspended it: %s', (state, differences) => {
  const key = keyView(aKey({ keyId: 'k', name: 'acme', ...differences }), NOW);
  const text = foundTokenText({ key, token: key.tokens[0] ?? null });

  expect(text).toMatch(`It belongs to acme (k, free, ${state}). Its token `);
  expect(text.endsWith(state === 'active' ? ' is valid (full access).' : `rejected while the key is ${state}.`)).toBe(
    true,
  );
});

describe('the usage of a key', () => {
  test.each<[string, Partial<KeyRecord>, number, number]>([
    ['of this minute', { currentMinute: MINUTE }, 7, 70],
    ['of another minute of today', { currentMinute: MINUTE - 1 }, 0, 70],
    ['of the last minute of yesterday', { currentMinute: MIDNIGHT - 1 }, 0, 0],
  ])('is read from a record %s', (_, differences, usedThisMinute, usedToday) => {
    const view = keyView(aKey({ minuteUsed: 7, dayUsed: 70, ...differences }), NOW);
    expect(view).toMatchObject({ usedThisMinute, usedToday });
  });

  test('has each UTC day since its creation, from stored days and its record, also after revocation', async () => {
    const today = Date.now();
    const dayBefore = (days: number): string => isoDay(today - days * DAY_MS);
    const counted = { currentMinute: minuteOf(today), dayUsed: 5, dayRefused: 1 };
    const before = { priorMinute: minuteOf(today - DAY_MS), priorUsed: 4, priorRefused: 2 };
    await put('mine', 'mine', { ...counted, ...before, createdAt: today - 3 * DAY_MS, ...REVOKED });
    world.usage = [marshall({ recordId: 'any', day: dayBefore(2), used: 3, refused: 0 })];

    expect(await usageOfKey(target, 'mine', 90)).toMatchObject({
      perDay: 1_000,
      days: [
        { day: dayBefore(3), used: 0, refused: 0 },
        { day: dayBefore(2), used: 3, refused: 0 },
        { day: dayBefore(1), used: 4, refused: 2 },
        { day: dayBefore(0), used: 5, refused: 1 },
      ],
    });
    expect((await usageOfKey(target, 'mine', 2)).days).toHaveLength(2);
  });
});

const put = (keyId: string | undefined, name: string, state: object = {}) =>
  target.keyTable.add(aKey({ keyId, name, ...state }));
const REVOKED = { revoked: true, enabled: false };

describe('a key is found', () => {
  test.each(['k1', 'Acme Pets', ' acme pets'])('by its id, or its name in any case: %s', async (text) => {
    await put('k1', 'Acme Pets');
    await put('old', 'Acme Pets', REVOKED);
    await put('k2', 'Beta');

    expect(await findKey(target, text)).toMatchObject({ keyId: 'k1' });
  });

  test('by its record id before it has an id of API Gateway', async () => {
    const record = await put(undefined, 'Acme Pets');

    expect(await findKey(target, record?.recordId ?? '')).toEqual(record);
  });
});

const TOKEN = generateToken();
const days = (count: number) => ({ expiresAtMs: Date.now() + count * 86_400_000 });

test.each<[KeySelection, string[]]>([
  [{}, ['a', 'b', 'c', 'd']],
  [{ state: 'revoked' }, ['old']],
  [{ state: 'suspended', plan: 'free' }, ['b']],
  [{ state: 'expiring' }, ['b']],
  [{ state: 'no valid token' }, ['d']],
  [{ search: TOKEN.slice(-4) }, ['c']],
  [{ search: TOKEN.slice(-5) }, []],
])('the list of keys filters by %j', async (selection, ids) => {
  await put('a', 'Acme', days(15));
  await put('b', 'Beta', { ...days(13), suspendedUntil: UNTIL_RESUMED });
  await target.keyTable.add(aKey({ keyId: 'c', name: 'Cd', ...days(-1) }, TOKEN));
  await put('d', 'Dd', { tokens: {} });
  await put('old', 'Acme', { ...REVOKED, ...days(1) });

  expect((await listKeys(target, selection)).map(({ id }) => id)).toEqual(ids);
});

test.each(['k1', 'Acme'])('a revoked key is shown by id and name, and no command changes it: %s', async (text) => {
  await put('k1', 'Acme', REVOKED);

  expect(await showKey(target, text)).toMatchObject({ id: 'k1', state: 'revoked' });
  expect(await findRecord(target, text)).toMatchObject({ keyId: 'k1', revoked: true });
  await expect(findKey(target, text)).rejects.toThrow('The key k1 was revoked.');
});

test.each([
  ['that several have', 'acme', /^4 keys have the name acme\. .* id: a\d \(free, created 1970-01-01\), a\d .* …$/],
  [
    'that none has',
    'Beta Pest',
    'There is no key Beta Pest. To list all keys: npm run admin -- keys list. If it was created in the AWS console less',
  ],
  ['that is empty', ' ', 'There is no key without an id or name.'],
])('a name %s is refused with a remedy', async (_, text, message) => {
  for (const id of ['a1', 'a2', 'a3', 'a4']) await put(id, 'Acme');

  await expect(findKey(target, text)).rejects.toThrow(message);
});
