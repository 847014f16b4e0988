import { type DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { documentClient } from '../../../shared/dynamodb.ts';
import { identityNames, KeyTable } from '../../../shared/key-registry/key-table.ts';
import type { KeyRecord } from '../../../shared/keys/key-record.ts';
import { Limiter } from '../../../shared/keys/limiter.ts';
import { describeOnEachEngine } from '../../support/engines.ts';
import { aKey, createKeysTable, tokenOf } from '../../support/tables.ts';

const CALL_MS = 20_000;

describeOnEachEngine('The keys table of those who manage keys', () => {
  let client: DynamoDBDocumentClient;
  let name: string;
  let table: KeyTable;

  beforeAll(async () => {
    client = documentClient({ requestTimeout: CALL_MS });
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

  const read = ({ recordId }: KeyRecord) => table.get(recordId);

  test('add puts a key that is not there, at revision 1, without what is undefined', async () => {
    const key = aKey({ expiresAt: undefined, tokensEndedAt: 7 });

    expect(await read(key)).toBeUndefined();
    expect(await table.add(key)).toBe(true);
    expect(Object.keys((await read(key)) ?? {})).not.toContain('expiresAt');
    expect(await read(key)).toEqual({ ...key, revision: 1 });
    expect(await table.add({ ...aKey(), recordId: key.recordId })).toBe(false);
  });

  test('get says which record is not in order, and what is wrong with it', async () => {
    const key = aKey({ keyId: 'spoiled' });
    await client.send(new PutCommand({ TableName: name, Item: { ...key, enabled: 'yes' } }));

    await expect(read(key)).rejects.toThrow(
      new RegExp(`^The key spoiled has a record in the table ${name} that is not in order: enabled: .*"yes"$`),
    );
  });

  describe('revise', () => {
    test('sets every part of a record that API Gateway decides, leaves the rest, and moves on to the next revision', async () => {
      const key = await added({ dayUsed: 7, suspendedUntil: 9 });
      const whole = aKey({ expiresAt: 5, name: 'b', plan: 'pro' });
      const change = Object.fromEntries(identityNames.map((each) => [each, whole[each]]));
      const changed = { ...key, ...change, revision: 2 };

      expect(await table.revise(key, change)).toEqual(changed);
      expect(await read(key)).toEqual(changed);
    });

    test('takes away what is undefined', async () => {
      const {
        restored: _,
        busy: __,
        ...key
      } = await added({ restored: true, busy: { by: 'move', since: 1, id: 'aB3x' } });

      await table.revise({ ...key, restored: true }, { restored: undefined, busy: undefined });
      expect(await read(key)).toStrictEqual({ ...key, revision: 2 });
    });

    test('changes nothing where the revision it knows is an earlier one', async () => {
      const first = await added();
      await table.revise(first, {});

      expect(await table.revise(first, { name: 'another' })).toBeUndefined();
      expect(await read(first)).toEqual({ ...first, revision: 2 });
    });

    test('is in no request’s way, and no request in its', async () => {
      const key = await added();
      const limiter = new Limiter(client, name);
      await limiter.admit(tokenOf(key), Date.now());

      expect(await table.revise(key, { name: 'another' })).toBeDefined();
      await limiter.admit(tokenOf(key), Date.now());
      expect(await read(key)).toMatchObject({ name: 'another', dayUsed: 2, revision: 2 });
    });
  });

  /** The keys of a table of its own, page by page. */
  async function pagesOf(keys: readonly KeyRecord[]): Promise<KeyRecord[][]> {
    const other = new KeyTable(client, await createKeysTable(client));
    for (const key of keys) await other.add(key);
    const pages: KeyRecord[][] = [];
    for await (const page of other.pages()) pages.push(page);
    return pages;
  }

  describe('pages', () => {
    test('are several where there is more than DynamoDB reads at once, 1 MB, with each key once', async () => {
      const keys = Array.from({ length: 25 }, (_, index) => aKey({ keyId: `key-${index}`, name: 'x'.repeat(100_000) }));
      const pages = await pagesOf(keys);
      const ids = pages.flat().map(({ keyId }) => keyId);

      expect(pages.length).toBeGreaterThan(2);
      expect(ids).toHaveLength(25);
      expect(new Set(ids)).toEqual(new Set(keys.map(({ keyId }) => keyId)));
    });

    test('leave out a record that is not in order, and tell of it', async () => {
      const other = await createKeysTable(client);
      const [good, bad] = [aKey(), aKey()];
      for (const Item of [good, { ...bad, keyId: 7 }]) await client.send(new PutCommand({ TableName: other, Item }));
      const told: string[] = [];
      const records: KeyRecord[] = [];
      for await (const page of new KeyTable(client, other).pages(({ message }) => told.push(message)))
        records.push(...page);

      expect(records).toEqual([good]);
      expect(told).toEqual([
        expect.stringContaining(`The key with the record id ${bad.recordId} has a record in the table`),
      ]);
    });
  });
});
