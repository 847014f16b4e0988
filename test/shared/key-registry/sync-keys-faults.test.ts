import { type APIGatewayClient, APIGatewayServiceException } from '@aws-sdk/client-api-gateway';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { KeyRecord } from '../../../shared/keys/key-record.ts';
import { plans } from '../../../shared/keys/plans.ts';
import { EmbeddedDatabase } from '../../support/engines.ts';
import { aUsagePlan } from '../../support/gateway-records.ts';
import { KeyRegistry } from '../../support/key-registry.ts';
import { aKey } from '../../support/tables.ts';

const CONSOLE_VALUE = 'zaCELgL0imfnc8mVLWwsAawjYr4Rx-Af50DDqtlx';
const nothing = { added: [], changed: [], disabled: [], removed: [], conflicts: [], problems: [] };

const database = new EmbeddedDatabase();
let registry: KeyRegistry;

beforeEach(async () => {
  registry = await KeyRegistry.start(database.client);
});

afterEach(() => registry.close());

const read = ({ recordId }: KeyRecord) => registry.table.get(recordId);

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
      () => registry.putKey({ id: 'lagging' }, 'free'),
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

  test('as the keys of a plan before a move, which has ended by now, does not write it over: it is a conflict', async () => {
    const key = await registry.issuedKey({ plan: 'pro', ...plans.pro.limits });
    const client = clientWith(
      'GetUsagePlanKeysCommand',
      () => registry.move(key.keyId, 'free'),
      () => registry.move(key.keyId, 'pro'),
    );

    expect(await registry.sync(client)).toMatchObject({ ...nothing, conflicts: [key.keyId] });
    expect(await read(key)).toEqual(key);
  });

  test('as a table that had no record of a key yet, which is complete by now, is no problem', async () => {
    const key = aKey({ keyId: 'new', createdAt: Date.UTC(2026, 10, 21), revision: 1 });
    registry.putKey({ id: 'new', value: key.recordId }, 'free');
    let calls = 0;
    const client = clientWith(
      'GetApiKeysCommand',
      () => undefined,
      () => (calls += 1),
    );
    client.middlewareStack.add((next) => async (args) => (await registry.put(key), next(args)), { step: 'initialize' });

    expect(await registry.sync(client)).toMatchObject({ ...nothing, unchanged: ['new'] });
    expect(calls).toBe(2);
  });

  test('as a list without the value of a key ends the sync', async () => {
    const key = await registry.usedKey({ value: CONSOLE_VALUE });
    const client = clientWith(
      'GetApiKeysCommand',
      () => registry.update(key.keyId, { value: '' }),
      () => registry.update(key.keyId, { value: CONSOLE_VALUE }),
    );

    await expect(registry.sync(client)).rejects.toThrow(`API Gateway did not send the value of the key ${key.keyId}`);
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
