import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { SyncReport } from '../../../shared/key-registry/mirror.ts';
import { tokenEntry } from '../../../shared/key-registry/key-tokens.ts';
import type { KeyRecord } from '../../../shared/keys/key-record.ts';
import { unusedCounters } from '../../../shared/key-registry/key-table.ts';
import { plans } from '../../../shared/keys/plans.ts';
import { did, KeyRegistry } from '../../support/key-registry.ts';
import { aKey, parsed } from '../../support/tables.ts';

const CONSOLE_VALUE = 'zaCELgL0imfnc8mVLWwsAawjYr4Rx-Af50DDqtlx';

let registry: KeyRegistry;

beforeEach(() => {
  registry = new KeyRegistry();
});

afterEach(() => {
  jest.restoreAllMocks();
  registry.close();
});

/** What a sync did. A second one right after it must find nothing left to do. */
async function sync(): Promise<Partial<SyncReport>> {
  const first = await registry.did();
  expect(await registry.did()).toEqual(did({ problems: first.problems ?? [] }));
  return first;
}

/** The record after one change: its counters and the rest are as they were. */
const revised = (before: KeyRecord, differences: Partial<KeyRecord>): KeyRecord => ({
  ...before,
  ...differences,
  revision: before.revision + 1,
});

describe('a key made in the console', () => {
  test('has the limits of its plan and one token, and has used nothing; no report names the token', async () => {
    const value = CONSOLE_VALUE;
    const keyId = registry.putKey({ value }, 'business');
    const createdAt = registry.records.apiKey(keyId)?.createdAt ?? 0;
    const report = await sync();

    expect(report).toEqual(did({ added: [keyId] }));
    const { recordId, hash } = parsed(value);
    expect(await registry.keys()).toEqual([
      {
        recordId,
        keyId,
        name: 'acme',
        plan: 'business',
        ...plans.business.limits,
        enabled: true,
        createdAt,
        tokens: tokenEntry(value, {}, createdAt),
        interimUntil: 0,
        revision: 1,
        revoked: false,
        ...unusedCounters,
      },
    ]);
    expect(await registry.verdict(parsed(value))).toBe('admitted');
    expect([value, recordId, hash].filter((secret) => JSON.stringify(report).includes(secret))).toEqual([]);
  });

  test.each([undefined, 'overflow'])('on no plan of a customer is none of the service: %s', async (planId) => {
    registry.putKey({}, planId);

    expect(await sync()).toEqual(did());
    expect(await registry.keys()).toEqual([]);
  });
});

test('More keys than a page of API Gateway holds are all added', async () => {
  const ids = Array.from({ length: 501 }, () => registry.putKey({}, 'free'));

  expect((await sync()).added?.toSorted()).toEqual(ids.toSorted());
});

test('A changed catalogue reaches all keys of a plan without a call about any of them', async () => {
  const before = await Promise.all(Array.from({ length: 20 }, () => registry.issuedKey({ perMinute: 7, perDay: 70 })));
  const asked = jest.fn();
  registry.around('GetApiKeyCommand', asked);
  const { changed } = await sync();

  expect(changed).toHaveLength(before.length);
  expect((await registry.keys()).map(({ perMinute }) => perMinute)).toEqual(
    before.map(() => plans.free.limits.perMinute),
  );
  expect(asked).not.toHaveBeenCalled();
});

describe('a key that is in use keeps its counters and its tokens when it is', () => {
  test.each<[string, (key: KeyRecord) => void, Partial<KeyRecord>]>([
    ['moved to another plan', ({ keyId }) => registry.move(keyId, 'pro'), { plan: 'pro', ...plans.pro.limits }],
    ['disabled', ({ keyId }) => registry.update(keyId, { enabled: false }), { enabled: false }],
    [
      'given an end',
      ({ keyId }) => registry.update(keyId, { tags: { expires: '2031-02-03' } }),
      { expiresAt: Date.UTC(2031, 1, 3) },
    ],
    [
      'deleted, and made again with the same value',
      ({ keyId, recordId }) => {
        registry.records.deleteApiKey(keyId);
        registry.putKey({ id: 'again', value: recordId, name: 'new' }, 'free');
      },
      { keyId: 'again', name: 'new' },
    ],
  ])('%s', async (_, change, differences) => {
    const tokens = { ...tokenEntry('one', {}, 1), ...tokenEntry('two', { label: 'b', until: 5, pending: true }, 2) };
    const before = await registry.issuedKey({ tokens });
    change(before);

    expect(await sync()).toEqual(did({ changed: [differences.keyId ?? before.keyId] }));
    expect(await registry.read(before)).toEqual(revised(before, differences));
  });
});

test('A key on no plan any more is disabled, and is as it was once it is back', async () => {
  const before = await registry.usedKey({}, 'pro');
  registry.move(before.keyId);

  expect(await sync()).toEqual(did({ disabled: [before.keyId] }));
  const disabled = revised(before, { enabled: false });
  expect(await registry.read(before)).toEqual(disabled);
  registry.move(before.keyId, 'pro');
  expect(await sync()).toEqual(did({ changed: [before.keyId] }));
  expect(await registry.read(before)).toEqual(revised(disabled, { enabled: true }));
});

describe('a key that is gone from API Gateway', () => {
  test('is closed for good, once, and no other is', async () => {
    const [gone, stays] = [await registry.usedKey(), await registry.usedKey()];
    registry.records.deleteApiKey(gone.keyId);

    expect(await sync()).toEqual(did({ removed: [gone.keyId] }));
    const closed = await registry.read(gone);
    expect(closed).toMatchObject({ enabled: false, revoked: true, purgeAt: expect.any(Number) });
    expect(await registry.read(stays)).toEqual(stays);

    // Not again, or its record would never be purged.
    jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 3_600_000);
    expect(await sync()).toEqual(did());
    expect(await registry.read(gone)).toEqual(closed);
  });

  test('stays closed where its value is back under another id, which is a problem', async () => {
    const gone = await registry.usedKey({ value: CONSOLE_VALUE });
    registry.records.deleteApiKey(gone.keyId);
    await sync();
    const closed = await registry.read(gone);
    const id = registry.putKey({ value: CONSOLE_VALUE }, 'pro');

    const problem = `The key ${id} is the same as ${gone.keyId}, which was revoked, and stays closed: delete it and issue another.`;
    expect(await sync()).toEqual(did({ problems: [problem] }));
    expect(await registry.read(gone)).toEqual(closed);
  });
});

/** The mark of a command that began some minutes ago. */
const busySince = (minutes: number) => ({ busy: { by: 'move', since: Date.now() - minutes * 60_000, id: 'aB3x' } });

describe('a key that a command is under way on', () => {
  test.each<[string, (keyId: string) => void, Partial<KeyRecord>]>([
    ['on another plan', (keyId) => registry.move(keyId, 'pro'), { plan: 'pro', ...plans.pro.limits }],
    ['enabled', (keyId) => registry.update(keyId, { enabled: true }), { enabled: true }],
  ])('keeps its record though it is %s, until the mark has counted for ten minutes', async (_, change, after) => {
    const key = await registry.issuedKey({ ...busySince(9), enabled: !('enabled' in after) });
    change(key.keyId);
    expect(await sync()).toEqual(did());
    expect(await registry.read(key)).toEqual(key);

    const { busy: _busy, ...later } = await registry.put({ ...key, ...busySince(10) });
    expect(await sync()).toEqual(did({ changed: [key.keyId] }));
    // Without its mark the command, if it goes on after all, writes nothing.
    expect(await registry.read(key)).toStrictEqual(revised(later, after));
  });

  test('keeps its record while it is on no plan, and is closed after ten minutes', async () => {
    const key = await registry.issuedKey(busySince(9));
    registry.move(key.keyId);
    expect(await sync()).toEqual(did());
    expect(await registry.read(key)).toEqual(key);

    await registry.put({ ...key, ...busySince(10) });
    expect(await sync()).toEqual(did({ disabled: [key.keyId] }));
  });

  test.each(['free', undefined])('is closed where it was disabled (plan %s); what else changed waits', async (plan) => {
    const key = await registry.issuedKey(busySince(9));
    registry.update(key.keyId, { enabled: false, name: 'another' });
    registry.move(key.keyId, plan);

    expect(await sync()).toEqual(did({ disabled: [key.keyId] }));
    expect(await registry.read(key)).toEqual(revised(key, { enabled: false }));
  });

  test('is closed for good where it is gone', async () => {
    const key = await registry.issuedKey(busySince(9));
    registry.records.deleteApiKey(key.keyId);

    expect(await sync()).toEqual(did({ removed: [key.keyId] }));
  });
});

describe('a list that lags behind', () => {
  test.each<[string, string, (keyId: string) => void, (keyId: string) => void]>([
    [
      'removes no key that is there',
      'GetApiKeysCommand',
      (keyId) => registry.records.deleteApiKey(keyId),
      (keyId) => registry.putKey({ id: keyId }, 'free'),
    ],
    [
      'opens no key that is disabled by now',
      'GetApiKeysCommand',
      (keyId) => registry.update(keyId, { enabled: true }),
      (keyId) => registry.update(keyId, { enabled: false }),
    ],
    [
      'undoes no move',
      'GetUsagePlanKeysCommand',
      (keyId) => registry.move(keyId, 'pro'),
      (keyId) => registry.move(keyId, 'free'),
    ],
    [
      'closes no key that is on its plan',
      'GetUsagePlanKeysCommand',
      (keyId) => registry.move(keyId),
      (keyId) => registry.move(keyId, 'free'),
    ],
  ])('%s: it is a conflict', async (what, command, then, now) => {
    const key = await registry.usedKey();
    if (what.startsWith('opens')) {
      now(key.keyId);
      await registry.sync();
    }
    const before = await registry.read(key);
    registry.around(
      command,
      () => then(key.keyId),
      () => now(key.keyId),
    );

    expect(await registry.did()).toEqual(did({ conflicts: [key.keyId] }));
    expect(await registry.read(key)).toEqual(before);
  });

  test('as a table that had no record of a key yet, which is complete by now, is no problem', async () => {
    const key = aKey({ keyId: 'new', createdAt: Date.UTC(2026, 10, 21), revision: 1 });
    registry.putKey({ id: 'new', value: key.recordId }, 'free');
    registry.around('GetUsagePlansCommand', () => registry.put(key));

    expect(await registry.sync()).toMatchObject(did({ unchanged: ['new'] }));
  });
});

test('A sync that fails at the table, half-way, writes no more, and the next one does the rest', async () => {
  for (let keys = 0; keys < 30; keys += 1) registry.putKey({}, 'free');
  const { middlewareStack } = registry.target.documents;
  let writes = 0;
  middlewareStack.add(
    (next, { commandName = '' }) =>
      (args) => {
        if (commandName.startsWith('Put') && (writes += 1) === 13) throw new Error('the network is cut');
        return next(args);
      },
    { step: 'initialize', name: 'cut' },
  );
  await expect(registry.sync()).rejects.toThrow('the network is cut');
  const { length: written } = await registry.keys();
  middlewareStack.remove('cut');

  // The twelve before it, and at most those that were under way beside it.
  expect(written).toBeGreaterThanOrEqual(12);
  expect(written).toBeLessThanOrEqual(21);
  expect((await registry.sync()).added).toHaveLength(30 - written);
});
