import { type DynamoDBDocumentClient, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { documentClient } from '../../../shared/dynamodb.ts';
import { identityNames, KeyTable } from '../../../shared/key-registry/key-table.ts';
import { type KeyRecord, parseKeyRecord, unusedCounters } from '../../../shared/keys/key-record.ts';
import { Limiter } from '../../../shared/keys/limiter.ts';
import { describeOnEachEngine } from '../../support/engines.ts';
import { aKey } from '../../support/key-records.ts';
import { createKeysTable } from '../../support/tables.ts';

const CALL_MS = 20_000;

describeOnEachEngine('The keys table of those who manage keys', () => {
  let client: DynamoDBDocumentClient;
  let name: string;
  let table: KeyTable;

  beforeAll(async () => {
    client = documentClient({ maxAttempts: 1, requestTimeout: CALL_MS });
    name = await createKeysTable(client);
    table = new KeyTable(client, name);
  });

  afterAll(() => client.destroy());

  /** A key that is in the table at revision 1. */
  async function added(differences: Partial<KeyRecord> = {}): Promise<KeyRecord> {
    const key = { ...aKey(differences), revision: 1 };
    await table.add(key);
    return key;
  }

  /** A key as it was put there before there were revisions. */
  async function old(): Promise<KeyRecord> {
    const { revision: _, interimUntil: __, createdAt: ___, suspendedByAdmin: ____, ...Item } = aKey();
    await client.send(new PutCommand({ TableName: name, Item }));
    return parseKeyRecord(
      (await client.send(new GetCommand({ TableName: name, Key: { keyHash: Item.keyHash } }))).Item,
    );
  }

  const read = ({ keyHash }: KeyRecord) => table.get(keyHash);

  describe('add', () => {
    test('puts a key that is not there, at revision 1', async () => {
      const key = aKey({ expiresAt: 5, replacedBy: 'f'.repeat(64) });

      expect(await table.add(key)).toBe(true);
      expect(await read(key)).toEqual({ ...key, revision: 1 });
    });

    test('leaves one that is there as it is', async () => {
      const key = await added();

      expect(await table.add({ ...key, name: 'another' })).toBe(false);
      expect(await read(key)).toEqual(key);
    });

    test('of many at once, lets one through', async () => {
      const { keyHash } = aKey();
      const names = Array.from({ length: 10 }, (_, index) => `number ${index}`);
      const results = await Promise.all(names.map((each) => table.add(aKey({ keyHash, name: each }))));

      expect(results.filter(Boolean)).toHaveLength(1);
      expect(await table.get(keyHash)).toMatchObject({ name: names[results.indexOf(true)] });
    });

    test('leaves out what is undefined', async () => {
      const key = aKey({ expiresAt: undefined, replacedBy: undefined });
      await table.add(key);
      const { Item } = await client.send(new GetCommand({ TableName: name, Key: { keyHash: key.keyHash } }));

      expect(Object.keys(Item ?? {})).not.toEqual(expect.arrayContaining(['expiresAt']));
      expect(Object.keys(Item ?? {})).not.toEqual(expect.arrayContaining(['replacedBy']));
    });
  });

  describe('put', () => {
    test('puts a key whether it is there or not, at revision 1', async () => {
      const key = aKey({ expiresAt: 5 });
      await table.put(key);
      expect(await read(key)).toEqual({ ...key, revision: 1 });
      await table.revise({ ...key, revision: 1 }, { name: 'another' });
      await table.put({ ...key, expiresAt: undefined });

      expect(await read(key)).toStrictEqual({ ...aKey({ keyHash: key.keyHash }), revision: 1 });
    });
  });

  describe('get', () => {
    test('finds nothing where there is nothing', async () => {
      expect(await read(aKey())).toBeUndefined();
    });

    test('takes a record from before there were revisions for revision 0', async () => {
      expect(await read(await old())).toMatchObject({ revision: 0, interimUntil: 0, suspendedByAdmin: false });
    });
  });

  describe('revise', () => {
    test('sets what it is given, leaves the rest, and moves on to the next revision', async () => {
      const key = await added({ expiresAt: 5, dayUsed: 7, suspendedUntil: 9 });

      expect(await table.revise(key, { name: 'another', plan: 'pro', perMinute: 300 })).toBe(true);
      expect(await read(key)).toEqual({ ...key, name: 'another', plan: 'pro', perMinute: 300, revision: 2 });
    });

    test('takes away what is given as undefined, there or not', async () => {
      const { expiresAt, ...endless } = await added({ expiresAt: 5 });
      const change = { expiresAt: undefined, replacedBy: undefined };

      expect(await table.revise({ ...endless, expiresAt }, change)).toBe(true);
      expect(await read(endless)).toStrictEqual({ ...endless, revision: 2 });
      expect(await table.revise({ ...endless, revision: 2 }, { ...change, name: 'another' })).toBe(true);
      expect(await read(endless)).toStrictEqual({ ...endless, name: 'another', revision: 3 });
    });

    test('may set every part of a record that API Gateway decides', async () => {
      const key = await added();
      const whole = aKey({ keyHash: key.keyHash, expiresAt: 5, replacedBy: 'f'.repeat(64), usageIdentifier: 'token' });
      const change = Object.fromEntries(identityNames.map((each) => [each, whole[each]]));

      expect(await table.revise(key, change)).toBe(true);
      expect(await read(key)).toEqual({ ...whole, revision: 2 });
    });

    test('with no change moves on to the next revision all the same', async () => {
      const key = await added();

      expect(await table.revise(key, {})).toBe(true);
      expect(await read(key)).toEqual({ ...key, revision: 2 });
    });

    test.each([
      ['an earlier one', 2],
      ['a later one', 4],
      ['none', 0],
    ])('changes nothing where the revision it knows is %s', async (_, revision) => {
      const first = await added();
      await table.revise(first, {});
      await table.revise({ ...first, revision: 2 }, {});
      const key = { ...first, revision: 3 };

      expect(await table.revise({ ...key, revision }, { name: 'another' })).toBe(false);
      expect(await read(key)).toEqual(key);
    });

    test('brings back no key that is gone', async () => {
      for (const key of [aKey(), aKey({ revision: 1 })]) {
        expect(await table.revise(key, { name: 'another' })).toBe(false);
        expect(await read(key)).toBeUndefined();
      }
    });

    test('gives a record without a revision its first, once', async () => {
      const key = await old();

      expect(await table.revise(key, { name: 'another' })).toBe(true);
      expect(await table.revise(key, { name: 'a third' })).toBe(false);
      expect(await read(key)).toEqual({ ...key, name: 'another', revision: 1 });
    });

    test('of many at once, lets one through', async () => {
      const key = await added();
      const names = Array.from({ length: 10 }, (_, index) => `number ${index}`);
      const results = await Promise.all(names.map((each) => table.revise(key, { name: each })));

      expect(results.filter(Boolean)).toHaveLength(1);
      expect(await read(key)).toEqual({ ...key, name: names[results.indexOf(true)], revision: 2 });
    });

    test('is in no request’s way, and no request in its', async () => {
      const key = await added();
      const limiter = new Limiter(client, name);
      await limiter.admit(key.keyHash, Date.now());

      expect(await table.revise(key, { name: 'another' })).toBe(true);
      await limiter.admit(key.keyHash, Date.now());
      expect(await read(key)).toMatchObject({ name: 'another', dayUsed: 2, revision: 2 });
    });

    test('holds out for attributes that must not have changed', async () => {
      const key = await added({ minuteUsed: 5, dayUsed: 7 });
      const change = { enabled: false };

      expect(await table.revise({ ...key, dayUsed: 6 }, change, ['minuteUsed', 'dayUsed'])).toBe(false);
      expect(await table.revise({ ...key, minuteUsed: 6 }, change, ['minuteUsed', 'dayUsed'])).toBe(false);
      expect(await read(key)).toEqual(key);
      expect(await table.revise({ ...key, dayUsed: 6 }, change, ['minuteUsed'])).toBe(true);
      expect(await read(key)).toEqual({ ...key, enabled: false, revision: 2 });
    });

    test('may hold out for the very attributes that it sets, and for the revision', async () => {
      const key = await added({ dayUsed: 7 });

      expect(await table.revise(key, { name: 'another' }, ['name', 'revision', 'dayUsed'])).toBe(true);
      expect(await table.revise({ ...key, revision: 2 }, { name: 'a third' }, ['name'])).toBe(false);
      expect(await read(key)).toEqual({ ...key, name: 'another', revision: 2 });
    });
  });

  describe('remove', () => {
    test('removes a key that is as it was read', async () => {
      const key = await added();

      expect(await table.remove(key)).toBe(true);
      expect(await read(key)).toBeUndefined();
    });

    test('says that one is gone which was gone before', async () => {
      expect(await table.remove(aKey({ revision: 3 }))).toBe(true);
    });

    test('leaves one that was revised', async () => {
      const key = await added();
      await table.revise(key, { name: 'another' });

      expect(await table.remove(key)).toBe(false);
      expect(await read(key)).toEqual({ ...key, name: 'another', revision: 2 });
    });

    test('removes a record without a revision, until it has one', async () => {
      const [untouched, revised] = [await old(), await old()];
      await table.revise(revised, { name: 'another' });

      expect(await table.remove(untouched)).toBe(true);
      expect(await table.remove(revised)).toBe(false);
      expect(await read(untouched)).toBeUndefined();
      expect(await read(revised)).toMatchObject({ name: 'another' });
    });
  });

  test('delete removes a key whatever it is by now, there or not', async () => {
    const key = await added();
    await table.revise(key, { name: 'another' });
    await table.delete(key.keyHash);
    await table.delete(key.keyHash);

    expect(await read(key)).toBeUndefined();
  });

  /** The keys of a table of its own, page by page. */
  async function pagesOf(keys: readonly KeyRecord[]): Promise<KeyRecord[][]> {
    const other = new KeyTable(client, await createKeysTable(client));
    for (const key of keys) await other.put(key);
    const pages: KeyRecord[][] = [];
    for await (const page of other.pages()) pages.push(page);
    return pages;
  }

  describe('pages', () => {
    test('of an empty table have no key', async () => {
      expect((await pagesOf([])).flat()).toEqual([]);
    });

    test('are several where there is more than DynamoDB reads at once, 1 MB, with each key once', async () => {
      const keys = Array.from({ length: 25 }, (_, index) => aKey({ keyId: `key-${index}`, name: 'x'.repeat(100_000) }));
      const pages = await pagesOf(keys);
      const ids = pages.flat().map(({ keyId }) => keyId);

      expect(pages.length).toBeGreaterThan(2);
      expect(ids).toHaveLength(25);
      expect(new Set(ids)).toEqual(new Set(keys.map(({ keyId }) => keyId)));
    });

    test('have whole records, old ones too', async () => {
      const key = await old();
      const records: KeyRecord[] = [];
      for await (const page of table.pages()) records.push(...page);

      expect(records).toContainEqual({ ...key, ...unusedCounters, revision: 0, interimUntil: 0, createdAt: 0 });
    });
  });

  test('What fails for another reason than a condition is thrown', async () => {
    const nowhere = new KeyTable(client, 'no-such-table');
    const key = aKey();

    for (const call of [() => nowhere.add(key), () => nowhere.revise(key, {}), () => nowhere.remove(key)]) {
      await expect(call()).rejects.toMatchObject({ name: 'ResourceNotFoundException' });
    }
  });
});
