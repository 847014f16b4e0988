import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { SyncReport } from '../../../shared/key-registry/mirror.ts';
import { generateApiKey, hashApiKey } from '../../../shared/keys/api-key.ts';
import { type KeyRecord, unusedCounters } from '../../../shared/keys/key-record.ts';
import { plans } from '../../../shared/keys/plans.ts';
import { EmbeddedDatabase } from '../../support/engines.ts';
import { apiStage, aUsagePlan } from '../../support/gateway-records.ts';
import { KeyRegistry } from '../../support/key-registry.ts';

const CONSOLE_VALUE = 'zaCELgL0imfnc8mVLWwsAawjYr4Rx-Af50DDqtlx';
const LONG_AGO = '2026-01-02T03:04:05.000Z';

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

const read = ({ keyHash }: KeyRecord) => registry.table.get(keyHash);

/** The record after one change: its counters and the rest are as they were. */
const revised = (before: KeyRecord, differences: Partial<KeyRecord>): KeyRecord => ({
  ...before,
  ...differences,
  revision: before.revision + 1,
});

describe('a key made in the console', () => {
  test.each(['free', 'business'] as const)('on the plan %s has its limits, and has used nothing', async (plan) => {
    const value = hashApiKey(generateApiKey());
    const keyId = registry.putKey({ name: 'acme', value }, plan);

    expect(await sync()).toEqual(did({ added: [keyId] }));
    expect(await registry.all()).toEqual([
      {
        keyHash: value,
        keyId,
        lineage: keyId,
        name: 'acme',
        plan,
        ...plans[plan].limits,
        enabled: true,
        createdAt: registry.records.apiKey(keyId)?.createdAt,
        usageIdentifier: 'hash',
        interimUntil: 0,
        revision: 1,
        revoked: false,
        ...unusedCounters,
      },
    ]);
  });

  test.each([undefined, 'internal'])('on no plan of a customer is none of the service: %s', async (planId) => {
    registry.putKey({}, planId);

    expect(await sync()).toEqual(did());
    expect(await registry.all()).toEqual([]);
  });

  test('that is added has the lineage of those it replaces', async () => {
    const first = await registry.usedKey();
    const last = registry.putKey({ value: CONSOLE_VALUE }, 'free');
    const second = registry.putKey({ tags: { 'replaced-by': last } }, 'free');
    registry.update(first.keyId, { tags: { 'replaced-by': second } });
    await sync();

    expect(await registry.recordOf(second)).toMatchObject({ lineage: first.lineage });
    expect(await registry.recordOf(last)).toMatchObject({ lineage: first.lineage });
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
      ({ keyId, keyHash }) => {
        registry.records.deleteApiKey(keyId);
        registry.putKey({ id: 'again', value: keyHash, name: 'new' }, 'free');
      },
      { keyId: 'again', name: 'new' },
    ],
  ])('%s', async (_, change, differences) => {
    const before = await registry.usedKey();
    change(before);

    expect(await sync()).toEqual(did({ changed: [differences.keyId ?? before.keyId] }));
    expect(await read(before)).toEqual(revised(before, differences));
  });

  test('replaced by another, and no more', async () => {
    const [before, successor] = [await registry.usedKey(), await registry.usedKey()];
    registry.update(before.keyId, { tags: { 'replaced-by': successor.keyId } });

    expect(await sync()).toEqual(did({ changed: [before.keyId] }));
    const replaced = revised(before, { replacedBy: successor.keyHash });
    expect(await read(before)).toEqual(replaced);
    expect(await read(successor)).toEqual(successor);

    registry.update(before.keyId, { tags: { 'replaced-by': undefined } });
    expect(await sync()).toEqual(did({ changed: [before.keyId] }));
    expect(await read(before)).toStrictEqual({ ...before, revision: replaced.revision + 1 });
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
    const own = aUsagePlan({ id: 'own', apiStages: [apiStage], tags: { 'per-minute': '5', 'per-day': '50' } });
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

const now = () => new Date().toISOString();

/** A key that is in use, handed over to one that is not finished. */
async function keyInRotation(): Promise<[key: KeyRecord, successor: string]> {
  const key = await registry.usedKey();
  const successor = registry.putKey({ tags: { unfinished: now(), replaces: key.keyId } }, 'free');
  registry.update(key.keyId, { tags: { 'replaced-by': successor } });
  return [key, successor];
}

describe('a key that the admin command is at work on', () => {
  test('is not let in before it is finished', async () => {
    const keyId = registry.putKey({ tags: { unfinished: now() } }, 'free');
    expect(await sync()).toEqual(did());
    expect(await registry.all()).toEqual([]);
    registry.update(keyId, { tags: { unfinished: undefined } });

    expect(await sync()).toEqual(did({ added: [keyId] }));
  });

  test('is told of where the command was cut off long ago, and left alone still', async () => {
    const key = await registry.usedKey();
    registry.update(key.keyId, { tags: { unfinished: LONG_AGO, expires: '2031-01-01' } });
    const problem = `The key ${key.keyId} was left unfinished at ${LONG_AGO}: run the command again that was cut off.`;

    expect(await sync()).toEqual(did({ problems: [problem] }));
    expect(await read(key)).toEqual(key);
  });

  test('keeps its record while it is moved, and gets its new limits then', async () => {
    const key = await registry.usedKey();
    registry.update(key.keyId, { tags: { moving: now() } });
    registry.move(key.keyId);
    expect(await sync()).toEqual(did());
    expect(await read(key)).toEqual(key);
    registry.move(key.keyId, 'pro');
    registry.update(key.keyId, { tags: { moving: undefined } });

    expect(await sync()).toEqual(did({ changed: [key.keyId] }));
    expect(await read(key)).toMatchObject({ plan: 'pro', perMinute: 300, enabled: true });
  });

  test.each<[string, (keyId: string) => void]>([
    ['given an end', (keyId) => registry.update(keyId, { tags: { expires: '2031-01-01' } })],
    ['on no plan', (keyId) => registry.move(keyId)],
  ])('keeps its record while its successor is made, though it was %s', async (_, change) => {
    const [key, successor] = await keyInRotation();
    change(key.keyId);
    expect(await sync()).toEqual(did());
    expect(await read(key)).toEqual(key);
    registry.move(key.keyId, 'free');
    registry.update(key.keyId, { tags: { expires: undefined } });
    registry.update(successor, { tags: { unfinished: undefined } });

    expect(await sync()).toEqual(did({ added: [successor], changed: [key.keyId] }));
    const { keyHash: replacedBy } = (await registry.recordOf(successor)) ?? {};
    expect(await read(key)).toEqual({ ...key, replacedBy, revision: key.revision + 1 });
  });

  test('is closed where it was disabled, and renamed: that waits', async () => {
    const [key] = await keyInRotation();
    registry.update(key.keyId, { enabled: false, name: 'another' });

    expect(await sync()).toEqual(did({ disabled: [key.keyId] }));
    expect(await read(key)).toEqual(revised(key, { enabled: false }));
  });
});
