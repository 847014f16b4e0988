import { describe, expect, test } from '@jest/globals';
import { idOf, type KeyRecord } from '../../../shared/keys/key-record.ts';
import { did, KeyRegistry, MINUTE_MS, NOW } from './key-registry.ts';

const registry = new KeyRegistry();
const { clock } = registry;

const offPlan = (key: KeyRecord) => registry.update(idOf(key), { planId: undefined });
const deleted = (key: KeyRecord) => registry.records.deleteApiKey(idOf(key));
const FRESH = { suspendedUntil: 0, suspendedByAdmin: false };
const issued = (count: number) => Promise.all(Array.from({ length: count }, () => registry.issuedKey(FRESH)));

describe('a key that was deleted in API Gateway', () => {
  test('is blocked, which its history says, and stays so', async () => {
    const key = await registry.issuedKey();
    registry.records.deleteApiKey(idOf(key));

    expect(await registry.did()).toEqual(did({ closed: [key.keyId] }));
    expect(await registry.did()).toEqual(did());
    expect(await registry.read(key)).toMatchObject({ enabled: false, revoked: false, keyId: key.keyId });
    expect(await registry.historyOf(key)).toMatchObject([{ what: ['disabled'], reason: 'deleted in API Gateway' }]);
  });

  test('is blocked and named if it was created there: its value is not stored', async () => {
    const key = await registry.consoleKey('free');
    registry.records.deleteApiKey(idOf(key));

    const problems = [expect.stringMatching(`The key ${key.keyId} was created in API Gateway, and is missing there`)];
    expect(await registry.did()).toEqual(did({ closed: [key.keyId], problems }));
  });
});

describe('many keys that seem deleted', () => {
  test.each([
    ['off their plan', offPlan],
    ['from API Gateway', deleted],
  ])('%s are blocked up to ten within an hour, then served and restored', async (_, lose) => {
    const keys = await issued(18);
    const [first, rest] = [keys.slice(0, 10), keys.slice(10, 14)];
    first.forEach(lose);
    expect((await registry.sync()).closed.toSorted()).toEqual(first.map(idOf).toSorted());
    rest.forEach(lose);
    // One that an admin has blocked otherwise is none of them.
    const disabled = keys[14];
    if (disabled && lose === offPlan) registry.update(idOf(disabled), { enabled: false, planId: undefined });

    const { problems, left, closed } = await registry.sync();
    expect(left.toSorted()).toEqual(rest.map(idOf).toSorted());
    expect(closed).toEqual(disabled && lose === offPlan ? [disabled.keyId] : []);
    expect(problems).toEqual([
      expect.stringMatching(/^1[45] of 18 .* 4 keep working.* Blocked before that: (\w+, ){9}\w+\. /),
    ]);

    clock.advance(MINUTE_MS);
    expect(await registry.sync()).toMatchObject({ applied: { length: 4 }, opened: [], problems: { length: 1 } });
    for (const key of rest) {
      const record = await registry.read(key);
      expect(record).toMatchObject({ enabled: true, interimUntil: NOW + 60 * MINUTE_MS });
      expect(registry.records.plansOfKey(record?.keyId ?? '')).toMatchObject([{ id: 'free' }]);
    }
    // Within the hour, none is blocked any more; after it, one is again.
    clock.advance(30 * MINUTE_MS);
    expect(await registry.sync()).toMatchObject({ changed: { length: 4 }, problems: { length: 1 } });
    keys.slice(15, 16).forEach(lose);
    expect(await registry.sync()).toMatchObject({ left: { length: 1 }, closed: [], problems: { length: 1 } });
    clock.advance(60 * MINUTE_MS);
    await registry.sync();
    keys.slice(16, 17).forEach(lose);
    expect(await registry.sync()).toMatchObject({ closed: [keys[16]?.keyId], problems: [] });
  });

  test.each([
    [219, 0],
    [220, 11],
  ])('11 of %i are blocked only up to 5 %% of all', async (all, closed) => {
    const ids = Array.from({ length: all }, () => registry.putKey({}, 'free'));
    await registry.sync();
    // Of those that were created manually, only the plan can be restored.
    for (const id of ids.slice(0, 11)) registry.update(id, { planId: undefined });

    expect((await registry.sync()).closed).toHaveLength(closed);
  });

  test('stay unchanged if their plan is missing', async () => {
    const key = await registry.consoleKey('pro');
    registry.records.plans.delete('pro');

    const problems = ['The stage has no usage plan tagged plan=pro.'];
    expect(await registry.did()).toEqual(did({ problems }));
    expect(await registry.read(key)).toEqual(key);
  });
});
