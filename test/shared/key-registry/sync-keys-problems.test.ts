import { APIGatewayServiceException } from '@aws-sdk/client-api-gateway';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { shortOfKeys } from '../../../shared/key-registry/gateway-state.ts';
import type { SyncReport } from '../../../shared/key-registry/sync-report.ts';
import { hashApiKey } from '../../../shared/keys/api-key.ts';
import type { KeyRecord } from '../../../shared/keys/key-record.ts';
import { UNTIL_RESUMED } from '../../../shared/keys/suspension.ts';
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

describe('many keys that seem to be gone', () => {
  const MANY = 11;

  test.each<[string, (ids: readonly string[]) => Promise<void>]>([
    [
      'off their plan',
      async (ids) => void (await Promise.all(ids.map((id) => registry.takeOffPlan(id, registry.plan('free'))))),
    ],
    ['from API Gateway', async (ids) => void (await Promise.all(ids.map((id) => registry.deleteKey(id))))],
  ])('%s are closed by an admin only', async (_, lose) => {
    const ids = await Promise.all(Array.from({ length: MANY }, () => registry.createKey({}, registry.plan('free'))));
    await sync();
    await lose(ids);

    expect(await sync()).toEqual(
      did({ problems: [expect.stringMatching(/^11 of 15 open keys .* keys sync --force/)] }),
    );
    expect((await registry.records()).every(({ enabled }) => enabled)).toBe(true);
    const { disabled, removed } = await registry.sync(registry.console, { force: true });
    expect(new Set([...disabled, ...removed])).toEqual(new Set(ids));
  });
});

test('One page of a plan that is empty by mistake closes nobody', async () => {
  const key = await registry.usedKey();
  const client = registry.client();
  client.middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        const answer = await next(args);
        if (commandName === 'GetUsagePlanKeysCommand') Object.assign(answer.output, { items: [] });
        return answer;
      },
    { step: 'initialize' },
  );
  const { disabled } = await registry.sync(client);

  expect(disabled).toEqual([]);
  expect(await read(key)).toEqual(key);
});

describe('what is not in order is one problem, and leaves the last good state', () => {
  test('a record that cannot be read', async () => {
    const [key, other] = [await registry.usedKey(), await registry.usedKey()];
    await registry.host.documents.send(
      new PutCommand({ TableName: registry.host.keysTable, Item: { ...key, enabled: 'yes' } }),
    );
    await registry.updateKey(other.keyId, 'name', 'renamed');

    const problem = expect.stringMatching(new RegExp(`^The key ${key.keyId} has a record in the table .* enabled: `));
    const report = await sync();
    await registry.forget(key);
    expect(report).toEqual(did({ changed: [other.keyId], problems: [problem] }));
  });

  test.each<[string, Record<string, string>, RegExp]>([
    ['an end', { expires: 'soon' }, /tag expires/],
    ['a successor', { 'replaced-by': 'nobody' }, /was replaced by nobody, which is gone/],
  ])('a tag with a typo: %s', async (_, tags, problem) => {
    const agreed = { 'per-minute': '50', 'per-day': '500' };
    const key = await registry.usedKey({ tags: agreed }, registry.plan('enterprise'));
    await registry.tag('apikeys', key.keyId, tags);

    expect(await sync()).toEqual(did({ problems: [expect.stringMatching(problem)] }));
    expect(await read(key)).toEqual(key);
    await registry.updateKey(key.keyId, 'enabled', 'false');
    expect((await sync()).disabled).toEqual([key.keyId]);
  });

  test('two keys of which one has the hash of the other as its value: the table keeps the one it has', async () => {
    const key = await registry.usedKey({ value: CONSOLE_VALUE });
    const other = await registry.createKey({ value: hashApiKey(CONSOLE_VALUE) }, registry.plan('pro'));

    const problems = [expect.stringMatching(new RegExp(`^${other}: the same key as ${key.keyId}`))];
    expect(await sync()).toEqual(did({ problems }));
    expect(await read(key)).toEqual(key);
  });

  test('a key that was suspended, and is enabled in API Gateway', async () => {
    const key = await registry.usedKey();
    const suspension = { enabled: false, suspendedUntil: UNTIL_RESUMED, suspendedByAdmin: true };
    const suspended = await registry.table.revise(key, suspension);

    expect(await sync()).toEqual(
      did({ problems: [expect.stringContaining(`${key.keyId} is suspended, but enabled`)] }),
    );
    expect(await read(key)).toEqual(suspended);
  });
});

test('A key that is added has the lineage of those it replaces', async () => {
  const first = await registry.usedKey();
  const last = await registry.createKey({ value: CONSOLE_VALUE }, registry.plan('free'));
  const second = await registry.createKey({ tags: { 'replaced-by': last } }, registry.plan('free'));
  await registry.tag('apikeys', first.keyId, { 'replaced-by': second });
  await sync();

  expect(await registry.recordOf(second)).toMatchObject({ lineage: first.lineage });
  expect(await registry.recordOf(last)).toMatchObject({ lineage: first.lineage });
});

test('An account that has nine tenths of the API keys that it may have is a problem', () => {
  expect(shortOfKeys(8_999)).toEqual([]);
  expect(shortOfKeys(9_000)).toEqual(['The account has 9000 of the 10000 API keys that it may have in the region.']);
});

describe('A sync that fails', () => {
  describe('a control plane that', () => {
    test('fails half-way ends the sync before it writes, and the next one does it all', async () => {
      const moved = await registry.usedKey();
      const gone = await registry.usedKey();
      const keyId = await registry.createKey({}, registry.plan('free'));
      await registry.moveKey(moved.keyId, registry.plan('free'), registry.plan('pro'));
      await registry.deleteKey(gone.keyId);
      const before = await registry.records();
      const client = registry.client({ maxAttempts: 2 });
      const { length: calls } = registry.server.arrivals;
      registry.server.faults = (call) => (call - calls > 3 ? 'broken' : undefined);

      await expect(registry.sync(client)).rejects.toBeInstanceOf(APIGatewayServiceException);
      expect(await registry.records()).toEqual(before);
      registry.server.faults = () => undefined;
      expect(await registry.sync()).toMatchObject({
        ...nothing,
        added: [keyId],
        changed: [moved.keyId],
        removed: [gone.keyId],
      });
    });
  });

  test('A table that fails half-way ends the sync, which writes no more, and the next one does the rest', async () => {
    const ids: string[] = [];
    for (let count = 0; count < 30; count++) ids.push(await registry.createKey({}, registry.plan('free')));
    let writes = 0;
    registry.host.documents.middlewareStack.add(
      (next, { commandName }) =>
        (args) => {
          if (commandName === 'PutItemCommand' && (writes += 1) === 13) throw new Error('the network is cut');
          return next(args);
        },
      { step: 'initialize', name: 'cut' },
    );
    await expect(registry.sync()).rejects.toThrow('the network is cut');
    const { length: written } = await registry.records();
    registry.host.documents.middlewareStack.remove('cut');
    const { added, conflicts, ...rest } = await registry.sync();

    // The twelve before it, and at most the nine that were under way beside it.
    expect(written).toBeGreaterThanOrEqual(12);
    expect(written).toBeLessThanOrEqual(21);
    expect(added).toHaveLength(30 - written);
    expect(conflicts).toEqual([]);
    expect(rest).toMatchObject({ changed: [], disabled: [], removed: [], problems: [] });
    expect(new Set((await registry.records()).map(({ keyId }) => keyId))).toEqual(new Set(ids));
  });
});
