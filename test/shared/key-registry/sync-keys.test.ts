import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { SyncReport } from '../../../shared/key-registry/sync-report.ts';
import { generateApiKey, hashApiKey } from '../../../shared/keys/api-key.ts';
import { type KeyRecord, unusedCounters } from '../../../shared/keys/key-record.ts';
import { plans } from '../../../shared/keys/plans.ts';
import { anApiKey, aUsagePlan } from '../../support/gateway-records.ts';
import { KeyRegistry } from '../../support/key-registry.ts';

const CONSOLE_VALUE = 'zaCELgL0imfnc8mVLWwsAawjYr4Rx-Af50DDqtlx';
const nothing = { added: [], changed: [], disabled: [], removed: [], conflicts: [], problems: [] };

let registry: KeyRegistry;

beforeAll(async () => {
  registry = await KeyRegistry.start();
});

afterEach(() => registry.clear());

afterAll(() => registry.close());

/** What a sync did. A second one right after it must find nothing left to do. */
async function sync(): Promise<Omit<SyncReport, 'unchanged' | 'keysInAccount'>> {
  const { unchanged: _, keysInAccount, ...did } = await registry.sync();
  const { unchanged: __, keysInAccount: later, ...again } = await registry.sync();
  expect(later).toBe(keysInAccount);
  expect(again).toEqual({ ...nothing, problems: did.problems });
  return did;
}

const did = (report: Partial<Record<keyof SyncReport, unknown>>) => ({ ...nothing, ...report });
const read = ({ keyHash }: KeyRecord) => registry.table.get(keyHash);

/** The record after one change: its counters and the rest are as they were. */
const revised = (before: KeyRecord, differences: Partial<KeyRecord>): KeyRecord => ({
  ...before,
  ...differences,
  revision: before.revision + 1,
});

describe('a key made in the console', () => {
  test.each(['free', 'pro', 'business'] as const)(
    'on the plan %s has its limits, and has used nothing',
    async (plan) => {
      const key = generateApiKey();
      const keyId = await registry.createKey({ name: 'acme', value: hashApiKey(key) }, registry.plan(plan));
      const createdAt = registry.host.host.records.apiKey(keyId)?.createdAt ?? 0;

      expect(await sync()).toEqual(did({ added: [keyId] }));
      expect(await registry.records()).toEqual([
        {
          keyHash: hashApiKey(key),
          keyId,
          lineage: keyId,
          name: 'acme',
          plan,
          ...plans[plan].limits,
          enabled: true,
          createdAt: Math.floor(createdAt / 1_000) * 1_000,
          usageIdentifier: 'hash',
          interimUntil: 0,
          revision: 1,
          revoked: false,
          ...unusedCounters,
        },
      ]);
    },
  );

  test.each<[string, () => Promise<string | undefined>]>([
    ['on no plan', () => Promise.resolve(undefined)],
    ['on the plan Overflow', () => Promise.resolve(internalPlan('Overflow'))],
    ['on a plan of another API', () => Promise.resolve(planOf({ apiId: 'another', stage: 'v1' }))],
    ['on a plan of no stage', () => registry.createPlan({ plan: 'free' }, { apiStages: [] })],
  ])('%s is none of the service', async (_, planId) => {
    await registry.createKey({}, await planId());

    expect(await sync()).toEqual(nothing);
    expect(await registry.records()).toEqual([]);
  });
});

test('More keys than a page of API Gateway holds are all added', async () => {
  const { records } = registry.host.host;
  const ids = Array.from({ length: 501 }, (_, index) => `key-${index}`);
  for (const id of ids) {
    records.putApiKey(anApiKey({ id, value: hashApiKey(generateApiKey()) }));
    records.putOnPlan(registry.plan('free'), id);
  }

  expect((await sync()).added.toSorted()).toEqual(ids.toSorted());
});

function internalPlan(title: string): string {
  return registry.host.host.records.usagePlans.find(({ name }) => name.endsWith(` ${title}`))?.id ?? '';
}

/** A plan of a stage that the host does not have. */
function planOf(apiStage: { apiId: string; stage: string }): string {
  registry.host.host.records.putUsagePlan(
    aUsagePlan({ id: 'elsewhere', apiStages: [apiStage], tags: { plan: 'free' } }),
  );
  return 'elsewhere';
}

describe('a key that is in use keeps its counters when it is', () => {
  test.each<[string, (key: KeyRecord) => Promise<unknown>, Partial<KeyRecord>]>([
    [
      'moved to another plan',
      ({ keyId }) => registry.moveKey(keyId, registry.plan('free'), registry.plan('pro')),
      { plan: 'pro', perMinute: 300, perDay: 10_000 },
    ],
    ['disabled', ({ keyId }) => registry.updateKey(keyId, 'enabled', 'false'), { enabled: false }],
    [
      'given an end',
      ({ keyId }) => registry.tag('apikeys', keyId, { expires: '2031-02-03' }),
      { expiresAt: Date.UTC(2031, 1, 3) },
    ],
    [
      'deleted, and made again with the same value',
      async ({ keyId, keyHash }) => {
        await registry.deleteKey(keyId);
        await registry.createKey({ value: keyHash, name: 'new' }, registry.plan('free'));
      },
      { name: 'new' },
    ],
  ])('%s', async (_, change, differences) => {
    const before = await registry.usedKey({ value: hashApiKey(generateApiKey()) });
    await change(before);
    const apiKey = registry.host.host.records.apiKeyWithValue(before.keyHash);
    const { id: keyId = '', createdAt = 0 } = apiKey ?? {};
    const identity = { keyId, createdAt: Math.floor(createdAt / 1_000) * 1_000 };

    expect(await sync()).toEqual(did({ changed: [keyId] }));
    expect(await read(before)).toEqual(revised(before, { ...differences, ...identity }));
  });

  test('replaced by another, and no more', async () => {
    const successor = await registry.usedKey({ name: 'successor' });
    const before = await registry.usedKey();
    await registry.tag('apikeys', before.keyId, { 'replaced-by': successor.keyId });

    expect(await sync()).toEqual(did({ changed: [before.keyId] }));
    const replaced = revised(before, { replacedBy: successor.keyHash });
    expect(await read(before)).toEqual(replaced);
    expect(await read(successor)).toEqual(successor);

    await registry.tag('apikeys', before.keyId, { 'replaced-by': undefined });
    expect(await sync()).toEqual(did({ changed: [before.keyId] }));
    expect(await read(before)).toStrictEqual({ ...before, revision: replaced.revision + 1 });
  });
});

const leaveAndComeBack = async (before: KeyRecord, leave: () => Promise<unknown>, comeBack: () => Promise<unknown>) => {
  await leave();
  const left = { report: await sync(), record: await read(before) };
  await comeBack();
  return { left, back: { report: await sync(), record: await read(before) } };
};

const disabledAndBack = (before: KeyRecord) => {
  const disabled = revised(before, { enabled: false });
  return {
    left: { report: did({ disabled: [before.keyId] }), record: disabled },
    back: { report: did({ changed: [before.keyId] }), record: revised(disabled, { enabled: true }) },
  };
};

describe('a key on no plan any more is disabled, and is as it was once it is back', () => {
  test.each([
    ['on no other', () => Promise.resolve(undefined)],
    ['on an internal one', () => Promise.resolve(internalPlan('Interim'))],
  ])('taken off its plan, %s', async (_, planElsewhere) => {
    const before = await registry.usedKey();
    const free = registry.plan('free');
    const elsewhere = await planElsewhere();
    const leave = async () => {
      await registry.takeOffPlan(before.keyId, free);
      if (elsewhere !== undefined) await registry.putOnPlan(before.keyId, elsewhere);
    };
    const comeBack = async () => {
      if (elsewhere !== undefined) await registry.takeOffPlan(before.keyId, elsewhere);
      await registry.putOnPlan(before.keyId, free);
    };

    expect(await leaveAndComeBack(before, leave, comeBack)).toEqual(disabledAndBack(before));
  });

  test('with its plan taken off the stage', async () => {
    const planId = await registry.createPlan({ 'per-minute': '5', 'per-day': '50' });
    const before = await registry.usedKey({}, planId);
    const value = `${registry.apiStage.apiId}:${registry.apiStage.stage}`;

    const leave = () => registry.updatePlan(planId, { op: 'remove', path: '/apiStages', value });
    const comeBack = () => registry.updatePlan(planId, { op: 'add', path: '/apiStages', value });

    expect(await leaveAndComeBack(before, leave, comeBack)).toEqual(disabledAndBack(before));
  });
});

test('A key stays as it is while the tag of its plan cannot be read, unless it is disabled', async () => {
  const planId = await registry.createPlan({ plan: 'pro' });
  const before = await registry.usedKey({}, planId);
  await registry.tag('usageplans', planId, { plan: 'por' });
  const problems = ['The usage plan Acme is on no plan: tag it with plan, one of free, pro, business, enterprise.'];

  expect(await sync()).toEqual(did({ problems }));
  expect(await read(before)).toEqual(before);
  await registry.updateKey(before.keyId, 'enabled', 'false');
  expect(await sync()).toEqual(did({ problems, disabled: [before.keyId] }));
});

describe('a key that is gone from API Gateway', () => {
  test('is closed for good, and no other is', async () => {
    const [gone, stays] = [await registry.usedKey(), await registry.usedKey()];
    await registry.deleteKey(gone.keyId);

    expect(await sync()).toEqual(did({ removed: [gone.keyId] }));
    expect(await read(gone)).toMatchObject({ enabled: false, revoked: true, purgeAt: expect.any(Number) });
    expect(await read(stays)).toEqual(stays);
  });

  test('stays closed where its value is back under another id, which is a problem', async () => {
    const gone = await registry.usedKey({ value: CONSOLE_VALUE });
    await registry.deleteKey(gone.keyId);
    await sync();
    const closed = await read(gone);
    const id = await registry.createKey({ value: CONSOLE_VALUE }, registry.plan('pro'));

    const problem = `The key ${id} is the same as ${gone.keyId}, which was revoked, and stays closed: delete it and issue another.`;
    expect(await sync()).toEqual(did({ problems: [problem] }));
    expect(await read(gone)).toEqual(closed);
  });
});
