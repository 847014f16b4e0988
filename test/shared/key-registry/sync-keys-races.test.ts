import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { INTERNAL_PLAN } from '../../../shared/key-registry/customer-plan.ts';
import { hashApiKey } from '../../../shared/keys/api-key.ts';
import type { KeyRecord } from '../../../shared/keys/key-record.ts';
import { Limiter } from '../../../shared/keys/limiter.ts';
import { aKey } from '../../support/key-records.ts';
import { KeyRegistry, usedCounters } from '../../support/key-registry.ts';

const nothing = { added: [], changed: [], disabled: [], removed: [], conflicts: [], problems: [] };

let registry: KeyRegistry;

beforeAll(async () => {
  registry = await KeyRegistry.start();
});

afterEach(() => registry.clear());

afterAll(() => registry.close());

const read = ({ keyHash }: KeyRecord) => registry.table.get(keyHash);

type Command = 'GetUsagePlans' | 'GetUsagePlanKeys' | 'GetApiKeys';

/**
 * A client to sync with. The table has been read when it makes its first call, and is written once its last has been
 * answered; in between something else happens.
 *
 * @param moment the call that it happens after, or before where it is the first
 * @param times in how many passes; a sync makes two at most
 */
function clientWhile(moment: Command, event: () => Promise<unknown>, times = 1) {
  const client = registry.client();
  let left = times;
  client.middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        const isNow = commandName === `${moment}Command` && left-- > 0;
        if (isNow && moment === 'GetUsagePlans') await event();
        const answer = await next(args);
        if (isNow && moment !== 'GetUsagePlans') await event();
        return answer;
      },
    { step: 'initialize' },
  );
  return client;
}

describe.each<Command>(['GetUsagePlans', 'GetApiKeys'])(
  'between the table and the writing (%s), a record',
  (moment) => {
    test('that is revised keeps what it was given, and gets what API Gateway says too', async () => {
      const key = await registry.usedKey();
      const gone = await registry.usedKey();
      await registry.updateKey(key.keyId, 'name', 'renamed');
      await registry.deleteKey(gone.keyId);
      const newKey = await registry.createKey({}, registry.plan('free'));
      const suspend = () => registry.table.revise(key, { suspendedUntil: 5, suspendedByAdmin: false });

      // The second pass changes the one; what the first has done is told too.
      expect(await registry.sync(clientWhile(moment, suspend))).toMatchObject({
        ...nothing,
        added: [newKey],
        changed: [key.keyId],
        removed: [gone.keyId],
      });
      expect(await read(key)).toEqual({
        ...key,
        name: 'renamed',
        suspendedUntil: 5,
        suspendedByAdmin: false,
        revision: key.revision + 2,
      });
    });

    test('that is revised each time is left alone, and the sync says so', async () => {
      const key = await registry.usedKey();
      await registry.moveKey(key.keyId, registry.plan('free'), registry.plan('pro'));
      const revise = async () => registry.table.revise((await read(key)) ?? key, { suspendedUntil: 5 });
      const report = await registry.sync(clientWhile(moment, revise, 2));

      expect(report).toMatchObject({ ...nothing, conflicts: [key.keyId] });
      expect(await read(key)).toEqual({ ...key, suspendedUntil: 5, revision: key.revision + 2 });
      expect(await registry.sync()).toMatchObject({ ...nothing, changed: [key.keyId] });
    });

    test('that is added, as the admin command adds its keys, stays as it is', async () => {
      const keyId = await registry.createKey({ value: 'made-in-the-console-1' }, registry.plan('free'));
      const keyHash = hashApiKey('made-in-the-console-1');
      const createdAt = Math.floor((registry.host.host.records.apiKey(keyId)?.createdAt ?? 0) / 1_000) * 1_000;
      const record = aKey({ keyId, keyHash, usageIdentifier: 'token', createdAt, ...usedCounters });
      const report = await registry.sync(clientWhile(moment, () => registry.table.add(record)));

      expect(report).toMatchObject(nothing);
      expect(report.unchanged).toContain(keyId);
      expect(await registry.records()).toEqual([{ ...record, revision: 1 }]);
    });

    test('that goes with its key does not come back', async () => {
      const key = await registry.usedKey();
      await registry.updateKey(key.keyId, 'name', 'renamed');
      const revoke = async () => {
        await registry.deleteKey(key.keyId);
        await registry.table.delete(key.keyHash);
      };

      const { added, changed, conflicts } = await registry.sync(clientWhile(moment, revoke));

      expect([...added, ...changed, ...conflicts]).toEqual([]);
      expect(await registry.records()).toEqual([]);
    });

    test('that goes while its key stays is made anew, unused', async () => {
      const key = await registry.usedKey();
      await registry.updateKey(key.keyId, 'name', 'renamed');
      const remove = () => registry.table.delete(key.keyHash);

      expect(await registry.sync(clientWhile(moment, remove))).toMatchObject({ ...nothing, added: [key.keyId] });
      expect(await read(key)).toMatchObject({ name: 'renamed', dayUsed: 0, revision: 1 });
    });

    test.each<[string, 'disabled' | 'removed', (key: KeyRecord) => Promise<void>]>([
      ['disabled', 'disabled', ({ keyId }) => registry.takeOffPlan(keyId, registry.plan('free'))],
      ['removed', 'removed', ({ keyId }) => registry.deleteKey(keyId)],
    ])('that is revised is %s all the same, after a second look', async (_, what, change) => {
      const key = await registry.usedKey();
      await change(key);
      const suspend = () => registry.table.revise(key, { suspendedUntil: 5 });

      expect(await registry.sync(clientWhile(moment, suspend))).toMatchObject({ ...nothing, [what]: [key.keyId] });
      const left = { ...key, enabled: false, suspendedUntil: 5, revision: key.revision + 2 };
      expect(await registry.records()).toEqual(what === 'disabled' ? [left] : []);
    });

    test('that counts requests is in nobody’s way, and loses none', async () => {
      const keyId = await registry.createKey({ value: 'made-in-the-console-2' }, registry.plan('free'));
      await registry.sync();
      await registry.updateKey(keyId, 'name', 'renamed');
      const limiter = new Limiter(registry.host.documents, registry.host.keysTable);
      const client = clientWhile(moment, () => limiter.admit(hashApiKey('made-in-the-console-2'), Date.now()));

      expect(await registry.sync(client)).toMatchObject({ ...nothing, changed: [keyId] });
      expect(await registry.recordOf(keyId)).toMatchObject({ name: 'renamed', minuteUsed: 1, dayUsed: 1 });
    });
  },
);

const plansInOrder = () => [registry.plan('free'), registry.plan('pro')].toSorted();

/** Syncs while the key is moved: the first of the two plans was read, the second was not. */
async function syncWhileMoved(key: KeyRecord, from: string, to: string) {
  const client = registry.client();
  let reads = 0;
  client.middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        const answer = await next(args);
        const isFirst = 'usagePlanId' in args.input && args.input.usagePlanId === plansInOrder()[0];
        if (commandName === 'GetUsagePlanKeysCommand' && isFirst && (reads += 1) === 1) {
          await registry.moveKey(key.keyId, from, to);
        }
        return answer;
      },
    { step: 'initialize' },
  );
  return registry.sync(client);
}

describe('a key that is moved while the plans are read, which is in the order of their ids,', () => {
  test('to a plan that is still to be read is moved', async () => {
    const [from = '', to = ''] = plansInOrder();
    const key = await registry.usedKey({}, from);

    expect(await syncWhileMoved(key, from, to)).toMatchObject({ ...nothing, changed: [key.keyId] });
    expect(await read(key)).toMatchObject({ enabled: true, dayUsed: key.dayUsed });
  });

  test('to a plan that was read before looks like one on no plan, until the next sync', async () => {
    const [to = '', from = ''] = plansInOrder();
    const key = await registry.usedKey({}, from);

    expect(await syncWhileMoved(key, from, to)).toMatchObject({ ...nothing, disabled: [key.keyId] });
    expect(await registry.sync()).toMatchObject({ ...nothing, changed: [key.keyId] });
    expect(await read(key)).toMatchObject({ enabled: true, dayUsed: key.dayUsed });
  });

  test('to a plan that was read before stays open where the admin command has just issued or moved it', async () => {
    const [to = '', from = ''] = plansInOrder();
    const fresh = await freshKey(from);

    expect(await syncWhileMoved(fresh, from, to)).toMatchObject(nothing);
    expect(await read(fresh)).toEqual(fresh);
    expect(await registry.sync()).toMatchObject({ ...nothing, changed: [fresh.keyId] });
  });
});

/** A key that the admin command has just issued or moved. */
async function freshKey(usagePlanId: string): Promise<KeyRecord> {
  const key = await registry.usedKey({}, usagePlanId);
  const interimUntil = Date.now() + 60_000;
  await registry.table.revise(key, { interimUntil });
  return { ...key, interimUntil, revision: key.revision + 1 };
}

describe('a key that the admin command has just issued or moved', () => {
  test.each<[string, (keyId: string) => Promise<unknown>]>([
    ['taken off its plan', () => Promise.resolve()],
    ['put on an internal plan', (keyId) => registry.putOnPlan(keyId, internalPlan())],
    [
      'put on a usage plan that is on no plan',
      async (keyId) => registry.putOnPlan(keyId, await registry.createPlan({})),
    ],
  ])('is closed where it is %s', async (_, putElsewhere) => {
    const key = await freshKey(registry.plan('free'));
    await registry.takeOffPlan(key.keyId, registry.plan('free'));
    await putElsewhere(key.keyId);

    expect(await registry.sync()).toMatchObject({ added: [], changed: [], disabled: [key.keyId], conflicts: [] });
    expect(await read(key)).toEqual({ ...key, enabled: false, revision: key.revision + 1 });
  });
});

const internalPlan = () =>
  registry.host.host.records.usagePlans.find(({ tags }) => tags.plan === INTERNAL_PLAN)?.id ?? '';

test('Two syncs at once do what one does', async () => {
  const moved = await registry.usedKey();
  const gone = await registry.usedKey();
  const keyId = await registry.createKey({}, registry.plan('free'));
  await registry.moveKey(moved.keyId, registry.plan('free'), registry.plan('pro'));
  await registry.deleteKey(gone.keyId);
  const reports = await Promise.all([registry.sync(), registry.sync(), registry.sync()]);

  expect(reports.flatMap(({ added }) => added)).toEqual([keyId]);
  expect(reports.flatMap(({ changed }) => changed)).toEqual([moved.keyId]);
  expect(await registry.sync()).toMatchObject(nothing);
  expect(await registry.records()).toHaveLength(2);
  expect(await read(moved)).toEqual({
    ...moved,
    plan: 'pro',
    perMinute: 300,
    perDay: 10_000,
    revision: moved.revision + 1,
  });
});
