import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { SyncReport } from '../../../shared/key-registry/mirror.ts';
import { Limiter } from '../../../shared/keys/limiter.ts';
import { type KeyRecord, unusedCounters } from '../../../shared/keys/key-record.ts';
import { NEVER } from '../../../shared/keys/working-token.ts';
import { tokenEntry } from '../../../shared/key-registry/key-tokens.ts';
import { plans } from '../../../shared/keys/plans.ts';
import { EmbeddedDatabase } from '../../support/engines.ts';
import { apiStage, aUsagePlan } from '../../support/gateway-records.ts';
import { KeyRegistry } from '../../support/key-registry.ts';
import { parsed } from '../../support/tables.ts';

const CONSOLE_VALUE = 'zaCELgL0imfnc8mVLWwsAawjYr4Rx-Af50DDqtlx';

const database = new EmbeddedDatabase();
let registry: KeyRegistry;

beforeEach(async () => {
  registry = await KeyRegistry.start(database.client);
});

afterEach(async () => {
  jest.restoreAllMocks();
  await registry.close();
});

const did = (report: Partial<SyncReport> | object = {}) => {
  return { added: [], changed: [], disabled: [], removed: [], conflicts: [], problems: [], ...report };
};

/** What a sync did. A second one right after it must find nothing left to do. */
async function sync(): Promise<Omit<SyncReport, 'unchanged' | 'keysInAccount'>> {
  const { unchanged: _, keysInAccount, ...first } = await registry.sync();
  const { unchanged: __, keysInAccount: later, ...again } = await registry.sync();
  expect(later).toBe(keysInAccount);
  expect(again).toEqual(did({ problems: first.problems }));
  return first;
}

const read = ({ recordId }: KeyRecord) => registry.table.get(recordId);

/** The record after one change: its counters and the rest are as they were. */
const revised = (before: KeyRecord, differences: Partial<KeyRecord>): KeyRecord => ({
  ...before,
  ...differences,
  revision: before.revision + 1,
});

describe('a key made in the console', () => {
  test.each(['free', 'business'] as const)(
    'on the plan %s has its limits and one token, and has used nothing',
    async (plan) => {
      const value = CONSOLE_VALUE;
      const keyId = registry.putKey({ name: 'acme', value }, plan);
      const createdAt = registry.records.apiKey(keyId)?.createdAt ?? 0;

      expect(await sync()).toEqual(did({ added: [keyId] }));
      expect(await registry.all()).toEqual([
        {
          recordId: parsed(value).recordId,
          keyId,
          name: 'acme',
          plan,
          ...plans[plan].limits,
          enabled: true,
          createdAt,
          tokens: tokenEntry(value, {}, createdAt),
          interimUntil: 0,
          revision: 1,
          revoked: false,
          ...unusedCounters,
        },
      ]);
      const limiter = new Limiter(registry.documents, registry.keysTable);
      expect(await limiter.admit(parsed(value), Date.now())).toMatchObject({ kind: 'admitted' });
    },
  );

  test('on the Enterprise plan has the limits in its tags, and those of another plan elsewhere', async () => {
    const keyId = registry.putKey(
      { value: CONSOLE_VALUE, tags: { 'per-minute': '50', 'per-day': '500' } },
      'enterprise',
    );
    await sync();
    expect(await registry.all()).toMatchObject([{ plan: 'enterprise', perMinute: 50, perDay: 500 }]);

    registry.update(keyId, { tags: { 'per-day': '600' } });
    expect(await sync()).toEqual(did({ changed: [keyId] }));
    expect(await registry.all()).toMatchObject([{ perMinute: 50, perDay: 600 }]);

    registry.move(keyId, 'free');
    expect(await sync()).toEqual(did({ changed: [keyId] }));
    expect(await registry.all()).toMatchObject([{ plan: 'free', ...plans.free.limits }]);
  });

  test.each([undefined, 'internal'])('on no plan of a customer is none of the service: %s', async (planId) => {
    registry.putKey({}, planId);

    expect(await sync()).toEqual(did());
    expect(await registry.all()).toEqual([]);
  });
});

test('More keys than a page of API Gateway holds are all added', async () => {
  const ids = Array.from({ length: 501 }, () => registry.putKey({}, 'free'));

  expect((await sync()).added.toSorted()).toEqual(ids.toSorted());
});

describe('a key that is in use keeps its counters when it is', () => {
  test.each<[string, (key: KeyRecord) => void, Partial<KeyRecord>]>([
    [
      'moved to another plan',
      ({ keyId }) => registry.move(keyId, 'pro'),
      { plan: 'pro', perMinute: 300, perDay: 10_000 },
    ],
    ['disabled', ({ keyId }) => registry.update(keyId, { enabled: false }), { enabled: false }],
    [
      'given an end',
      ({ keyId }) => registry.update(keyId, { tags: { expires: '2031-02-03' } }),
      { expiresAt: Date.UTC(2031, 1, 3) },
    ],
    [
      'deleted, and made again with the same value',
      ({ keyId }) => {
        const { value = '' } = registry.records.apiKey(keyId) ?? {};
        registry.records.deleteApiKey(keyId);
        registry.putKey({ id: 'again', value, name: 'new' }, 'free');
      },
      { keyId: 'again', name: 'new' },
    ],
  ])('%s; and so do its tokens', async (_, change, differences) => {
    const tokens = { ...tokenEntry('one', {}, 1), ...tokenEntry('two', { label: 'b', until: 5, pending: true }, 2) };
    const before = await registry.issuedKey({ tokens });
    change(before);

    expect(await sync()).toEqual(did({ changed: [differences.keyId ?? before.keyId] }));
    expect(await read(before)).toEqual(revised(before, differences));
  });
});

describe('a key on no plan any more is disabled, and is as it was once it is back', () => {
  test.each<[string, (keyId: string) => void]>([
    ['taken off its plan', (keyId) => registry.move(keyId)],
    ['on an internal one', (keyId) => registry.move(keyId, 'internal')],
    [
      'with its plan taken off the stage',
      () => registry.records.putUsagePlan(aUsagePlan({ id: 'own', apiStages: [] })),
    ],
  ])('%s', async (_, leave) => {
    const own = aUsagePlan({ id: 'own', apiStages: [apiStage], tags: { plan: 'pro' } });
    registry.records.putUsagePlan(own);
    const before = await registry.usedKey({}, 'own');
    leave(before.keyId);

    expect(await sync()).toEqual(did({ disabled: [before.keyId] }));
    const disabled = revised(before, { enabled: false });
    expect(await read(before)).toEqual(disabled);
    registry.records.putUsagePlan(own);
    registry.move(before.keyId, 'own');
    expect(await sync()).toEqual(did({ changed: [before.keyId] }));
    expect(await read(before)).toEqual(revised(disabled, { enabled: true }));
  });
});

describe('a key that is gone from API Gateway', () => {
  test('is closed for good, once, and no other is', async () => {
    const [gone, stays] = [await registry.usedKey(), await registry.usedKey()];
    registry.records.deleteApiKey(gone.keyId);

    expect(await sync()).toEqual(did({ removed: [gone.keyId] }));
    expect(await read(gone)).toMatchObject({ enabled: false, revoked: true, purgeAt: expect.any(Number) });
    expect(await read(stays)).toEqual(stays);

    // Not again, or its record would never be purged.
    const closed = await read(gone);
    jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 3_600_000);
    expect(await sync()).toEqual(did());
    expect(await read(gone)).toEqual(closed);
  });

  test('stays closed where its value is back under another id, which is a problem', async () => {
    const gone = await registry.usedKey({ value: CONSOLE_VALUE });
    registry.records.deleteApiKey(gone.keyId);
    await sync();
    const closed = await read(gone);
    const id = registry.putKey({ value: CONSOLE_VALUE }, 'pro');

    const problem = `The key ${id} is the same as ${gone.keyId}, which was revoked, and stays closed: delete it and issue another.`;
    expect(await sync()).toEqual(did({ problems: [problem] }));
    expect(await read(gone)).toEqual(closed);
  });
});

/** ISO 8601, some minutes ago. */
const minutesAgo = (minutes: number): string => new Date(Date.now() - minutes * 60_000).toISOString();

describe('a key that is being made', () => {
  test('is left alone before it is finished, and let in then', async () => {
    const keyId = registry.putKey({ tags: { unfinished: minutesAgo(9) } }, 'free');
    expect(await sync()).toEqual(did());
    expect(await registry.all()).toEqual([]);
    registry.update(keyId, { tags: { unfinished: undefined } });

    expect(await sync()).toEqual(did({ added: [keyId] }));
  });

  test.each(['without a record', 'with one'])(
    'is reported where that was cut off ten minutes ago: %s',
    async (which) => {
      const since = minutesAgo(11);
      const key = await registry.issuedKey();
      if (which === 'without a record') await registry.delete(key);
      registry.update(key.keyId, { tags: { unfinished: since, expires: '2031-01-01' } });
      const problem = `The key ${key.keyId} was left unfinished at ${since}: create it again, which clears it away, or delete it there.`;

      expect(await sync()).toEqual(did({ problems: [problem] }));
      expect(await read(key)).toEqual(which === 'with one' ? key : undefined);
    },
  );
});

/** The mark of a command that began some minutes ago. */
const busySince = (minutes: number) => ({ busy: { by: 'move', since: Date.now() - minutes * 60_000, id: 'aB3x' } });

describe('a key that a command is under way on', () => {
  const changes: readonly [string, (keyId: string) => void, Partial<KeyRecord>][] = [
    ['on another plan', (keyId) => registry.move(keyId, 'pro'), { plan: 'pro', ...plans.pro.limits }],
    [
      'given an end',
      (keyId) => registry.update(keyId, { tags: { expires: '2031-01-01' } }),
      { expiresAt: Date.UTC(2031, 0) },
    ],
    ['enabled', (keyId) => registry.update(keyId, { enabled: true }), { enabled: true }],
  ];

  test.each(changes)(
    'keeps its record though it is %s, until the mark has counted for ten minutes',
    async (_, change, after) => {
      const key = await registry.issuedKey({ ...busySince(9), enabled: !('enabled' in after) });
      change(key.keyId);
      expect(await sync()).toEqual(did());
      expect(await read(key)).toEqual(key);

      const { busy: _busy, ...later } = await registry.put({ ...key, ...busySince(10) });
      expect(await sync()).toEqual(did({ changed: [key.keyId] }));
      // Without its mark the command, if it goes on after all, writes nothing.
      expect(await read(key)).toStrictEqual(revised(later, after));
    },
  );

  test('keeps its record while it is on no plan, and is closed after ten minutes', async () => {
    const key = await registry.issuedKey(busySince(9));
    registry.move(key.keyId);
    expect(await sync()).toEqual(did());
    expect(await read(key)).toEqual(key);

    await registry.put({ ...key, ...busySince(10) });
    expect(await sync()).toEqual(did({ disabled: [key.keyId] }));
  });

  test.each([
    ['', 'free'],
    [', on no plan', undefined],
  ])('is closed where it was disabled%s; what else was changed waits', async (_, planId) => {
    const key = await registry.issuedKey(busySince(9));
    registry.update(key.keyId, { enabled: false, name: 'another' });
    registry.move(key.keyId, planId);

    expect(await sync()).toEqual(did({ disabled: [key.keyId] }));
    expect(await read(key)).toEqual(revised(key, { enabled: false }));
  });

  test('is closed for good where it is gone', async () => {
    const key = await registry.issuedKey(busySince(9));
    registry.records.deleteApiKey(key.keyId);

    expect(await sync()).toEqual(did({ removed: [key.keyId] }));
  });
});

test('A suspension stays, whatever else is taken over, and so does a revocation', async () => {
  const suspended = await registry.issuedKey(
    { enabled: false, suspendedUntil: NEVER },
    { enabled: false, name: 'new' },
  );
  const revoked = await registry.issuedKey({ enabled: false, revoked: true, purgeAt: 9_999_999_999 }, { name: 'new' });
  const { keyId } = suspended;

  const problem = `The key ${revoked.keyId} was revoked, but is still in API Gateway: revoke it again.`;
  expect(await sync()).toEqual(did({ changed: [keyId], problems: [problem] }));
  expect(await read(suspended)).toEqual(revised(suspended, { name: 'new' }));
  expect(await read(revoked)).toEqual(revoked);
});
