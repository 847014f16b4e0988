import { type APIGatewayClient, APIGatewayServiceException } from '@aws-sdk/client-api-gateway';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { shortOfKeys } from '../../../shared/key-registry/gateway-state.ts';
import { hashApiKey } from '../../../shared/keys/api-key.ts';
import type { KeyRecord } from '../../../shared/keys/key-record.ts';
import { UNTIL_RESUMED } from '../../../shared/keys/verdict.ts';
import { EmbeddedDatabase } from '../../support/engines.ts';
import { aUsagePlan } from '../../support/gateway-records.ts';
import { KeyRegistry } from '../../support/key-registry.ts';

const CONSOLE_VALUE = 'zaCELgL0imfnc8mVLWwsAawjYr4Rx-Af50DDqtlx';
const nothing = { added: [], changed: [], disabled: [], removed: [], conflicts: [], problems: [] };

const database = new EmbeddedDatabase();
let registry: KeyRegistry;

beforeEach(async () => {
  registry = await KeyRegistry.start(database.client);
});

afterEach(() => registry.close());

const read = ({ keyHash }: KeyRecord) => registry.table.get(keyHash);

describe('many keys that seem to be gone', () => {
  const losses: readonly [string, (id: string) => void][] = [
    ['off their plan', (id) => registry.move(id)],
    ['from API Gateway', (id) => registry.records.deleteApiKey(id)],
  ];

  test.each(losses)('%s are closed up to ten, and beyond by an admin only', async (_, lose) => {
    const ids = Array.from({ length: 21 }, () => registry.putKey({}, 'free'));
    await registry.sync();
    for (const id of ids.slice(0, 10)) lose(id);
    const first = await registry.sync();
    expect([...first.disabled, ...first.removed].toSorted()).toEqual(ids.slice(0, 10).toSorted());

    for (const id of ids.slice(10)) lose(id);
    const problems = [expect.stringMatching(/^11 of 11 open keys .* keys sync --force/)];
    expect(await registry.sync()).toMatchObject({ ...nothing, problems });
    const { disabled, removed } = await registry.sync(undefined, { force: true });
    expect([...disabled, ...removed].toSorted()).toEqual(ids.slice(10).toSorted());
  });
});

describe('what is not in order is one problem, and leaves the last good state', () => {
  test('a record that cannot be read', async () => {
    const [key, other] = [await registry.usedKey(), await registry.usedKey()];
    const Item = { ...key, enabled: 'yes' };
    await registry.documents.send(new PutCommand({ TableName: registry.keysTable, Item }));
    registry.update(other.keyId, { name: 'renamed' });

    const problem = expect.stringMatching(new RegExp(`^The key ${key.keyId} has a record in the table .* enabled: `));
    expect(await registry.sync()).toMatchObject({ ...nothing, changed: [other.keyId], problems: [problem] });
  });

  test.each<[string, Record<string, string>, RegExp]>([
    ['an end', { expires: 'soon' }, /tag expires/],
    ['a successor', { 'replaced-by': 'nobody' }, /was replaced by nobody, which is gone/],
  ])('a tag with a typo, but a key that is disabled is closed: %s', async (_, tags, problem) => {
    const key = await registry.usedKey({ tags: { 'per-minute': '50', 'per-day': '500' } }, 'enterprise');
    registry.update(key.keyId, { tags });

    expect(await registry.sync()).toMatchObject({ ...nothing, problems: [expect.stringMatching(problem)] });
    expect(await read(key)).toEqual(key);
    registry.update(key.keyId, { enabled: false });
    expect((await registry.sync()).disabled).toEqual([key.keyId]);
  });

  test('a plan whose tag cannot be read, but a key that is disabled is closed', async () => {
    registry.records.putUsagePlan(aUsagePlan({ id: 'own', name: 'Acme', tags: { plan: 'pro' } }));
    const before = await registry.usedKey({}, 'own');
    registry.records.putUsagePlan(aUsagePlan({ id: 'own', name: 'Acme', tags: { plan: 'por' } }));
    const problems = ['The usage plan Acme is on no plan: tag it with plan, one of free, pro, business, enterprise.'];

    expect(await registry.sync()).toMatchObject({ ...nothing, problems });
    expect(await read(before)).toEqual(before);
    registry.update(before.keyId, { enabled: false });
    expect(await registry.sync()).toMatchObject({ ...nothing, problems, disabled: [before.keyId] });
  });

  test('a stage that lacks a usage plan of the catalogue', async () => {
    const key = await registry.usedKey({}, 'pro');
    registry.records.putUsagePlan(aUsagePlan({ id: 'pro', tags: {} }));
    registry.move(key.keyId);

    expect(await registry.sync()).toMatchObject({
      ...nothing,
      problems: [expect.stringContaining('is on no plan'), 'The stage has no usage plan tagged plan=pro.'],
    });
    expect(await read(key)).toEqual(key);
  });

  test('two keys of which one has the hash of the other as its value: the table keeps the one it has', async () => {
    const key = await registry.usedKey({ value: CONSOLE_VALUE });
    const other = registry.putKey({ value: hashApiKey(CONSOLE_VALUE) }, 'pro');

    const problems = [expect.stringMatching(new RegExp(`^${other}: the same key as ${key.keyId}`))];
    expect(await registry.sync()).toMatchObject({ ...nothing, problems });
    expect(await read(key)).toEqual(key);
  });

  test('a key that was suspended, and is enabled in API Gateway', async () => {
    const key = await registry.usedKey();
    const suspended = await registry.table.revise(key, { enabled: false, suspendedUntil: UNTIL_RESUMED });

    const problems = [expect.stringContaining(`${key.keyId} is suspended, but enabled`)];
    expect(await registry.sync()).toMatchObject({ ...nothing, problems });
    expect(await read(key)).toEqual(suspended);
  });
});

test('An account that has nine tenths of the API keys that it may have is a problem', () => {
  expect(shortOfKeys(8_999)).toEqual([]);
  expect(shortOfKeys(9_000)).toEqual(['The account has 9000 of the 10000 API keys that it may have in the region.']);
});

/** A client that does something before a call of API Gateway, and something after it, or to its answer. */
function clientWith(command: string, before: () => void, after: (output: object) => void): APIGatewayClient {
  const client = registry.client();
  client.middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        if (commandName !== command) return next(args);
        before();
        const answer = await next(args);
        after(answer.output);
        return answer;
      },
    { step: 'initialize' },
  );
  return client;
}

describe('an answer that is not complete', () => {
  test('as a list that lags behind removes no key that is there: it is a conflict', async () => {
    const key = await registry.usedKey({ id: 'lagging' });
    const client = clientWith(
      'GetApiKeysCommand',
      () => registry.records.deleteApiKey('lagging'),
      () => registry.putKey({ id: 'lagging', value: key.keyHash }, 'free'),
    );

    expect(await registry.sync(client)).toMatchObject({ ...nothing, conflicts: ['lagging'] });
    expect(await read(key)).toEqual(key);
  });

  test('as a list that lags behind opens no key that is disabled by now: it is a conflict', async () => {
    const key = await registry.usedKey();
    registry.update(key.keyId, { enabled: false });
    await registry.sync();
    const client = clientWith(
      'GetApiKeysCommand',
      () => registry.update(key.keyId, { enabled: true }),
      () => registry.update(key.keyId, { enabled: false }),
    );

    expect(await registry.sync(client)).toMatchObject({ ...nothing, conflicts: [key.keyId] });
    expect(await read(key)).toMatchObject({ enabled: false });
  });

  test('as a list without the value of a key ends the sync', async () => {
    const key = await registry.usedKey();
    const client = clientWith(
      'GetApiKeysCommand',
      () => registry.update(key.keyId, { value: '' }),
      () => registry.update(key.keyId, { value: key.keyHash }),
    );

    await expect(registry.sync(client)).rejects.toThrow(`API Gateway did not tell the value of the key ${key.keyId}`);
    expect(await read(key)).toEqual(key);
  });

  test('as a page of a plan that is empty by mistake closes nobody', async () => {
    const key = await registry.usedKey();
    const client = clientWith(
      'GetUsagePlanKeysCommand',
      () => undefined,
      (output) => Object.assign(output, { items: [] }),
    );

    expect(await registry.sync(client)).toMatchObject({ disabled: [] });
    expect(await read(key)).toEqual(key);
  });

  test('as a usage plan that is deleted while it is read has no keys on it', async () => {
    registry.records.putUsagePlan(aUsagePlan({ id: 'own', tags: { plan: 'pro' } }));
    const key = await registry.usedKey({}, 'own');
    const client = clientWith(
      'GetUsagePlansCommand',
      () => undefined,
      () => registry.records.deleteUsagePlan('own'),
    );

    expect(await registry.sync(client)).toMatchObject({ ...nothing, disabled: [key.keyId] });
  });
});

describe('a sync that fails', () => {
  test('at the control plane, half-way, has written nothing, and the next one does it all', async () => {
    const [moved, gone] = [await registry.usedKey(), await registry.usedKey()];
    const keyId = registry.putKey({}, 'free');
    registry.move(moved.keyId, 'pro');
    registry.records.deleteApiKey(gone.keyId);
    const before = await registry.all();
    const { length: calls } = registry.server.arrivals;
    registry.server.faults = (call) => (call - calls > 3 ? 'broken' : undefined);

    await expect(registry.sync(registry.client({ maxAttempts: 2 }))).rejects.toBeInstanceOf(APIGatewayServiceException);
    expect(await registry.all()).toEqual(before);
    registry.server.faults = () => undefined;
    const { problems, conflicts, ...rest } = await registry.sync();
    expect([problems, conflicts]).toEqual([[], []]);
    expect(rest).toMatchObject({ added: [keyId], changed: [moved.keyId], removed: [gone.keyId] });
  });

  test('at the table, half-way, writes no more, and the next one does the rest', async () => {
    const ids = Array.from({ length: 30 }, () => registry.putKey({}, 'free'));
    let writes = 0;
    registry.documents.middlewareStack.add(
      (next, { commandName }) =>
        (args) => {
          if (commandName === 'PutItemCommand' && (writes += 1) === 13) throw new Error('the network is cut');
          return next(args);
        },
      { step: 'initialize', name: 'cut' },
    );
    await expect(registry.sync()).rejects.toThrow('the network is cut');
    const { length: written } = await registry.all();
    registry.documents.middlewareStack.remove('cut');
    const { added, conflicts } = await registry.sync();

    // The twelve before it, and at most those that were under way beside it.
    expect(written).toBeGreaterThanOrEqual(12);
    expect(written).toBeLessThanOrEqual(21);
    expect([added.length, conflicts]).toEqual([30 - written, []]);
    expect((await registry.all()).map(({ keyId }) => keyId).toSorted()).toEqual(ids.toSorted());
  });
});
