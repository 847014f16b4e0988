import { APIGatewayServiceException } from '@aws-sdk/client-api-gateway';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { KeyRegistry } from '../../support/key-registry.ts';

const nothing = { added: [], changed: [], disabled: [], removed: [], conflicts: [], problems: [] };

let registry: KeyRegistry;

beforeAll(async () => {
  registry = await KeyRegistry.start();
});

afterEach(() => registry.clear());

afterAll(() => registry.close());

describe('a control plane that', () => {
  test('throttles is waited out', async () => {
    const keyId = await registry.createKey({}, registry.plan('free'));
    const { length: before } = registry.server.arrivals;
    registry.server.faults = (call) => ([1, 4].includes(call - before) ? 'throttled' : undefined);

    expect(await registry.sync(registry.client())).toMatchObject({ ...nothing, added: [keyId] });
    // The usage plans, the keys on each of the four that customers are on, all keys: and two calls twice.
    expect(registry.server.arrivals.length - before).toBe(8);
  });

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
