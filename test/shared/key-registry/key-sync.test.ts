import { describe, expect, jest, test } from '@jest/globals';
import type { SyncReport } from '../../../shared/key-registry/key-sync.ts';
import { tokenEntry, newRecord } from '../../../shared/key-registry/record-changes.ts';
import { idOf, type KeyRecord } from '../../../shared/keys/key-record.ts';
import { planIds, plans } from '../../../shared/keys/plans.ts';
import type { Interception } from '../../support/in-process-target.ts';
import { did, KeyRegistry, MINUTE_MS, NOW } from './key-registry.ts';
import { parsed } from '../../support/tables.ts';

const value = 'zaCELgL0imfnc8mVLWwsAawjYr4Rx-Af50DDqtlx';
const registry = new KeyRegistry();
const { clock } = registry;

/** What a sync did. A second one right after it must find nothing left to do. */
async function sync(): Promise<Partial<SyncReport>> {
  const first = await registry.did();
  expect(await registry.did()).toEqual(did({ problems: first.problems ?? [] }));
  return first;
}

/** A sync, and how many calls of each command it makes. */
async function countedSync() {
  const calls: Record<string, number> = {};
  const count: Interception = (perform, name) => {
    calls[name] = (calls[name] ?? 0) + 1;
    return perform();
  };
  return { ...(await registry.run(() => registry.sync(), count)), calls };
}

/** The record after one change: its counters and the rest are as they were. */
const revised = (before: KeyRecord, differences: Partial<KeyRecord>): KeyRecord => ({
  ...before,
  ...differences,
  revision: before.revision + 1,
});
const INTERIM = { interimUntil: NOW + 5 * MINUTE_MS };

test('a key from the console gets the limits of its plan and one token, which no report shows', async () => {
  const keyId = registry.putKey({ value }, 'business');
  const createdAt = registry.records.apiKey(keyId)?.createdAt ?? 0;
  const report = await sync();

  expect(report).toEqual(did({ added: [keyId] }));
  const { recordId, hash } = parsed(value);
  const identity = { recordId, keyId, name: 'acme', plan: 'business', ...plans.business.limits } as const;
  const state = { enabled: true, createdAt, tokens: tokenEntry(value, {}, createdAt), ...INTERIM, changedAt: NOW };
  expect(await registry.keys()).toEqual([newRecord({ ...identity, ...state })]);
  expect(await registry.historyOf({ recordId })).toMatchObject([{ who: 'ann', reason: 'created in API Gateway' }]);
  expect(await registry.verdict(parsed(value))).toBe('admitted');
  expect([value, recordId, hash].filter((secret) => JSON.stringify(report).includes(secret))).toEqual([]);
});

test('a revoked key that reappears in API Gateway is deleted there, and its record kept longer', async () => {
  const key = await registry.issuedKey({ enabled: false, revoked: true });

  expect(await sync()).toEqual(did({ applied: [`${key.keyId} (revoked)`] }));
  expect(registry.records.apiKeys).toEqual([]);
  expect(await registry.read(key)).toMatchObject({ revoked: true, purgeAt: NOW / 1_000 + 400 * 86_400 });
  expect((await registry.sync()).unchanged).toEqual([]);
});

test('a sync without changes makes one call per 500 keys and per usage plan, and writes nothing', async () => {
  const ids = Array.from({ length: 501 }, () => registry.putKey({}, 'free'));
  expect((await registry.sync()).added.toSorted()).toEqual(ids.toSorted());
  const { calls, ...report } = await countedSync();

  expect(report).toMatchObject(did());
  const lists = { GetUsagePlansCommand: 1, GetUsagePlanKeysCommand: planIds.length + 1, GetApiKeysCommand: 2 };
  expect(calls).toEqual({ ScanCommand: 1, ...lists });
});

test('a changed plan reaches its keys without a call per key', async () => {
  const keys = await Promise.all(Array.from({ length: 20 }, () => registry.issuedKey({ perMinute: 7, perDay: 70 })));
  const { calls, changed } = await countedSync();

  expect(changed).toHaveLength(keys.length);
  expect(new Set((await registry.keys()).map(({ perMinute }) => perMinute))).toEqual(
    new Set([plans.free.limits.perMinute]),
  );
  const lists = { GetUsagePlansCommand: 1, GetUsagePlanKeysCommand: planIds.length, GetApiKeysCommand: 1 };
  expect(calls).toEqual({ ScanCommand: 1, UpdateItemCommand: keys.length, PutItemCommand: keys.length, ...lists });
});

test('a key in use keeps its counters and tokens when it is moved, or made again with the same value', async () => {
  const before = await registry.issuedKey({
    tokens: { ...tokenEntry('one', {}, 1), ...tokenEntry('two', { label: 'b', until: 5, pending: true }, 2) },
  });
  registry.records.deleteApiKey(idOf(before));
  registry.putKey({ id: 'again', value: before.recordId }, 'pro');

  expect(await sync()).toEqual(did({ changed: ['again'] }));
  const differences = { keyId: 'again', plan: 'pro', ...plans.pro.limits, ...INTERIM, changedAt: NOW } as const;
  expect(await registry.read(before)).toEqual(revised(before, differences));
  expect(await registry.historyOf(before)).toMatchObject([{ what: [expect.stringMatching(/ \(in API Gateway\)$/)] }]);
});

describe('what a command left undone', () => {
  const CUT_OFF = { unappliedSince: NOW - MINUTE_MS };

  test('is applied with the timestamp of the sync, and cleared three minutes later', async () => {
    const key = await registry.issuedKey({ ...CUT_OFF, plan: 'pro', ...plans.pro.limits, interimUntil: 0 });
    registry.update(idOf(key), { planId: 'free', name: 'old' });

    expect(await sync()).toEqual(did({ applied: [`${key.keyId} (name, plan)`] }));
    expect(registry.records.plansOfKey(idOf(key))).toMatchObject([{ id: 'pro' }]);
    const applied = revised(key, { unappliedSince: NOW });
    expect(await registry.read(key)).toEqual(applied);

    clock.advance(3 * MINUTE_MS);
    expect(await sync()).toEqual(did({ changed: [key.keyId] }));
    const { unappliedSince: _, ...cleared } = revised(applied, { interimUntil: clock.now + 5 * MINUTE_MS });
    expect(await registry.read(key)).toStrictEqual(cleared);
  });

  test('reports each key that it unblocks, even if another call fails', async () => {
    for (let keys = 0; keys < 2; keys += 1)
      registry.update(idOf(await registry.issuedKey(CUT_OFF)), { enabled: false });
    jest.spyOn(registry.target.keyTable, 'revise').mockRejectedValueOnce(new Error('the network is cut'));
    registry.before.set('UpdateApiKeyCommand', () => {
      throw new Error('it is on fire');
    });
    const { opened, problems } = await registry.sync();

    expect(opened).toHaveLength(1);
    expect(problems).toEqual([
      expect.stringMatching(/^The key .* could not be synced \(Error: the network is cut\); the next sync retries\.$/),
      expect.stringContaining(`keys suspend ${opened[0]}`),
      `The key ${opened[0]} could not be synced (Error: it is on fire); the next sync retries.`,
    ]);
  });

  test('is applied within the time of a run, and completed by the next', async () => {
    const keys = await Promise.all(Array.from({ length: 3 }, () => registry.issuedKey(CUT_OFF)));
    for (const key of keys) registry.update(idOf(key), { planId: 'pro' });
    const { applied, left } = await registry.run(
      () => registry.sync(),
      (perform, name) => {
        if (name === 'CreateUsagePlanKeyCommand') clock.advance(2 * MINUTE_MS);
        return perform();
      },
    );

    expect([applied.length, left.length]).toEqual([2, 1]);
    expect(await registry.did()).toMatchObject({ applied: [`${left[0]} (plan)`] });
  });
});

test('a key that changed since it was read is left to the next sync', async () => {
  const [edited, cutOff] = [await registry.issuedKey(), await registry.issuedKey({ unappliedSince: NOW - MINUTE_MS })];
  for (const key of [edited, cutOff]) registry.update(idOf(key), { name: 'new' });
  const changed: (KeyRecord | undefined)[] = [];
  registry.before.set('GetUsagePlansCommand', async () => {
    for (const key of [edited, cutOff]) changed.push(await registry.target.keyTable.revise(key, { interimUntil: 9 }));
  });
  const { left = [], ...rest } = await registry.did();

  expect(rest).toEqual({ ...did(), left: undefined });
  expect(left.toSorted()).toEqual([idOf(edited), idOf(cutOff)].toSorted());
  expect([await registry.read(edited), await registry.read(cutOff)]).toEqual(changed);
});

test('a sync that fails at the table stops, and the next one completes it', async () => {
  for (let keys = 0; keys < 30; keys += 1) registry.putKey({}, 'free');
  let writes = 0;
  const cut: Interception = (perform, name) =>
    name.startsWith('Update') && (writes += 1) === 13 ? Promise.reject(new Error('the network is cut')) : perform();
  await expect(registry.run(() => registry.sync(), cut)).rejects.toThrow('the network is cut');
  const { length: written } = await registry.keys();

  // The twelve before it, and at most those that were in progress beside it.
  expect(written).toBeGreaterThanOrEqual(12);
  expect(written).toBeLessThanOrEqual(21);
  expect((await registry.sync()).added).toHaveLength(30 - written);
});

test('an unreadable record is one problem, and stays unchanged', async () => {
  const [key, other] = [await registry.issuedKey(), await registry.issuedKey()];
  await registry.put({ ...key, enabled: 'yes' });
  for (const each of [key, other]) registry.update(idOf(each), { name: 'renamed' });

  const problem = expect.stringMatching(
    new RegExp(`^The key ${key.keyId} has an invalid record in the table .* enabled: Invalid`),
  );
  expect(await registry.did()).toEqual(did({ changed: [other.keyId], problems: [problem] }));
});
