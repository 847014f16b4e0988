import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { generateApiKey, hashApiKey } from '../../../shared/keys/api-key.ts';
import type { KeyRecord } from '../../../shared/keys/key-record.ts';
import { anApiKey } from '../../support/gateway-records.ts';
import { KeyRegistry } from '../../support/key-registry.ts';

const nothing = { added: [], changed: [], disabled: [], removed: [], conflicts: [], problems: [] };
const unfinished = { unfinished: new Date().toISOString() };
const LONG_AGO = '2026-01-02T03:04:05.000Z';

let registry: KeyRegistry;

beforeAll(async () => {
  registry = await KeyRegistry.start();
});

afterEach(() => registry.clear());

afterAll(() => registry.close());

const read = ({ keyHash }: KeyRecord) => registry.table.get(keyHash);

describe('a key that the admin command is making', () => {
  test('is not let in before it is finished', async () => {
    const keyId = await registry.createKey({ tags: unfinished }, registry.plan('free'));
    expect(await registry.sync()).toMatchObject(nothing);
    expect(await registry.records()).toEqual([]);
    await registry.tag('apikeys', keyId, { unfinished: undefined });

    expect(await registry.sync()).toMatchObject({ ...nothing, added: [keyId] });
  });

  test('is told where the command was cut off long ago, and left alone still', async () => {
    const key = await registry.usedKey();
    await registry.tag('apikeys', key.keyId, { unfinished: LONG_AGO, expires: '2031-01-01' });
    const problem = `The key ${key.keyId} was left unfinished at ${LONG_AGO}: run the command again that was cut off.`;

    expect(await registry.sync()).toMatchObject({ ...nothing, problems: [problem] });
    expect(await read(key)).toEqual(key);
  });
});

describe('a key that the admin command is moving', () => {
  test('keeps its record while it is on no plan, and gets its new limits once it is moved', async () => {
    const key = await registry.usedKey();
    await registry.tag('apikeys', key.keyId, { moving: new Date().toISOString() });
    await registry.takeOffPlan(key.keyId, registry.plan('free'));
    expect(await registry.sync()).toMatchObject(nothing);
    expect(await read(key)).toEqual(key);
    await registry.putOnPlan(key.keyId, registry.plan('pro'));
    await registry.tag('apikeys', key.keyId, { moving: undefined });

    expect(await registry.sync()).toMatchObject({ ...nothing, changed: [key.keyId] });
    expect(await read(key)).toMatchObject({ plan: 'pro', perMinute: 300, enabled: true });
  });
});

/** A key that is in use, handed over to one that is not finished. */
async function keyInRotation(): Promise<{ key: KeyRecord; successor: string }> {
  const key = await registry.usedKey();
  const successor = await registry.createKey({ tags: { ...unfinished, replaces: key.keyId } }, registry.plan('free'));
  await registry.tag('apikeys', key.keyId, { 'replaced-by': successor });
  return { key, successor };
}

const offItsPlan = ({ keyId }: KeyRecord) => registry.takeOffPlan(keyId, registry.plan('free'));

describe('a key whose successor the admin command is making', () => {
  test.each<[string, (key: KeyRecord) => Promise<unknown>]>([
    ['handed over', () => Promise.resolve()],
    ['given an end', ({ keyId }) => registry.tag('apikeys', keyId, { expires: '2031-01-01' })],
    ['on no plan', offItsPlan],
  ])('keeps its record, though it was %s', async (_, change) => {
    const { key } = await keyInRotation();
    await change(key);

    expect(await registry.sync()).toMatchObject(nothing);
    expect(await read(key)).toEqual(key);
  });

  test('is closed where it was disabled, and renamed: that waits', async () => {
    const { key } = await keyInRotation();
    await registry.updateKey(key.keyId, 'enabled', 'false');
    await registry.updateKey(key.keyId, 'name', 'another');

    expect(await registry.sync()).toMatchObject({ ...nothing, disabled: [key.keyId] });
    expect(await read(key)).toEqual({ ...key, enabled: false, revision: key.revision + 1 });
    expect(await registry.sync()).toMatchObject(nothing);
  });

  test('is as API Gateway says once the successor is finished', async () => {
    const { key, successor } = await keyInRotation();
    await registry.tag('apikeys', successor, { unfinished: undefined });

    expect(await registry.sync()).toMatchObject({ ...nothing, added: [successor], changed: [key.keyId] });
    const { keyHash: replacedBy } = (await registry.recordOf(successor)) ?? {};
    expect(await read(key)).toEqual({ ...key, replacedBy, revision: key.revision + 1 });
  });
});

/** A client to which all keys are listed as they are after a change, which is undone before the next call. */
function clientThatLists(change: () => void, undo: () => void) {
  const client = registry.client();
  client.middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        if (commandName !== 'GetApiKeysCommand') return next(args);
        change();
        const answer = await next(args);
        undo();
        return answer;
      },
    { step: 'initialize' },
  );
  return client;
}

describe('an answer that is not complete', () => {
  test('as a list that lags behind removes no key that is there: it is a conflict', async () => {
    const { records } = registry.host.host;
    const key = await registry.usedKey({ value: hashApiKey(generateApiKey()) });
    const apiKey = anApiKey({ id: key.keyId, value: key.keyHash });
    const client = clientThatLists(
      () => records.deleteApiKey(key.keyId),
      () => {
        records.putApiKey(apiKey);
        records.putOnPlan(registry.plan('free'), key.keyId);
      },
    );

    expect(await registry.sync(client)).toMatchObject({ ...nothing, conflicts: [key.keyId] });
    expect(await read(key)).toEqual(key);
  });

  test('as a list that lags behind opens no key that is disabled by now: it is a conflict', async () => {
    const { records } = registry.host.host;
    const key = await registry.usedKey({ value: hashApiKey(generateApiKey()) });
    await registry.updateKey(key.keyId, 'enabled', 'false');
    await registry.sync();
    const apiKey = anApiKey({ id: key.keyId, value: key.keyHash });
    const client = clientThatLists(
      () => records.putApiKey({ ...apiKey, enabled: true }),
      () => records.putApiKey({ ...apiKey, enabled: false }),
    );

    expect(await registry.sync(client)).toMatchObject({ ...nothing, conflicts: [key.keyId] });
    expect(await read(key)).toMatchObject({ enabled: false });
  });

  test('as a list without the value of a key ends the sync', async () => {
    const { records } = registry.host.host;
    const key = await registry.usedKey({ value: hashApiKey(generateApiKey()) });
    const apiKey = anApiKey({ id: key.keyId, value: key.keyHash });
    const client = clientThatLists(
      () => records.putApiKey({ ...apiKey, value: '' }),
      () => records.putApiKey(apiKey),
    );

    await expect(registry.sync(client)).rejects.toThrow(`API Gateway did not tell the value of the key ${key.keyId}`);
    expect(await read(key)).toEqual(key);
  });

  test('as a stage that lacks a usage plan of the catalogue disables nobody, and is a problem', async () => {
    const key = await registry.usedKey({}, registry.plan('pro'));
    await registry.tag('usageplans', registry.plan('pro'), { plan: undefined });
    const { problems, ...did } = await registry.sync();

    expect(problems).toContain('The stage has no usage plan tagged plan=pro.');
    expect(did).toMatchObject({ changed: [], disabled: [], removed: [] });
    expect(await read(key)).toEqual(key);
  });

  test('as a usage plan that is deleted while it is read has no keys on it', async () => {
    const planId = await registry.createPlan({ plan: 'pro' });
    const key = await registry.usedKey({}, planId);
    const client = registry.client();
    client.middlewareStack.add(
      (next, { commandName }) =>
        async (args) => {
          const answer = await next(args);
          if (commandName === 'GetUsagePlansCommand') registry.host.host.records.deleteUsagePlan(planId);
          return answer;
        },
      { step: 'initialize' },
    );

    expect(await registry.sync(client)).toMatchObject({ ...nothing, disabled: [key.keyId] });
  });
});
