import { type DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { documentClient } from '../../../shared/dynamodb.ts';
import { KeyTable } from '../../../shared/key-registry/key-table.ts';
import { idOf, type KeyRecord } from '../../../shared/keys/key-record.ts';
import { describeOnEachEngine } from '../../support/engines.ts';
import { aKey, createKeysTable } from '../../support/tables.ts';

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
    const key = aKey({ keyId: undefined, expiresAtMs: undefined, unappliedSince: 7 });

    expect(await read(key)).toBeUndefined();
    expect(await table.add(key)).toMatchObject({ revision: 1 });
    const { keyId: _keyId, expiresAtMs: _expiresAtMs, ...defined } = key;
    expect(await read(key)).toStrictEqual({ ...defined, revision: 1 });
    expect(await table.add({ ...aKey(), recordId: key.recordId })).toBeUndefined();
  });

  test('get says which record is not in order, and what is wrong with it', async () => {
    const key = aKey({ keyId: 'spoiled' });
    await client.send(new PutCommand({ TableName: name, Item: { ...key, enabled: 'yes' } }));

    await expect(read(key)).rejects.toThrow(
      new RegExp(`^The key spoiled has a record in the table ${name} that is not in order: enabled: .*"yes"$`),
    );
  });

  describe('revise', () => {
    test('sets and takes away parts of a record, leaves the rest, and moves on to the next revision', async () => {
      const { unappliedSince, ...key } = await added({ unappliedSince: 1, dayUsed: 7, suspendedUntil: 9 });
      const change = { name: 'b', plan: 'pro', perMinute: 2, perDay: 3, enabled: false, expiresAtMs: 5 } as const;

      await table.revise({ ...key, unappliedSince }, { ...change, unappliedSince: undefined });
      expect(await read(key)).toStrictEqual({ ...key, ...change, revision: 2 });
    });

    test('changes nothing where the revision it knows is an earlier one', async () => {
      const first = await added();
      await table.revise(first, {});

      expect(await table.revise(first, { name: 'another' })).toBeUndefined();
      expect(await read(first)).toEqual({ ...first, revision: 2 });
    });
  });

  test('all reads beyond what DynamoDB reads at once, 1 MB, and leaves out and reports a record that is not in order', async () => {
    const ownTable = await createKeysTable(client);
    const other = new KeyTable(client, ownTable);
    const ids = Array.from({ length: 25 }, (_, index) => `key-${index}`);
    for (const keyId of ids) await other.add(aKey({ keyId, name: 'x'.repeat(100_000) }));
    const bad = aKey();
    await client.send(new PutCommand({ TableName: ownTable, Item: { ...bad, keyId: 7 } }));
    const unreadable: string[] = [];
    const records = await other.all(({ message }) => unreadable.push(message));

    expect(records.map(idOf).toSorted()).toEqual(ids.toSorted());
    expect(unreadable).toEqual([
      expect.stringContaining(`The key with the record id ${bad.recordId} has a record in the table`),
    ]);
  });
});
